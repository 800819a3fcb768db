"""What one leader among the replicas does: it writes on each GPU node whether offline pods may run there."""
