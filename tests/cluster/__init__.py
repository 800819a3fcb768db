"""Tests against a real kube-apiserver and etcd; README.md says where the binaries come from."""
