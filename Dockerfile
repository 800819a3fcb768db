# The image of `mgpu-hybrid`: Python, one virtual environment, nothing that builds. deploy/README.md says how to use it.
# No BuildKit extension is used, so that docker, podman, buildah and kaniko build the same image.
#
# Base of both stages: any image that has python3 >= 3.11 and, for the build stage, its pip and venv modules.
# A release should give it by digest (--build-arg PYTHON_IMAGE=...@sha256:...), for a tag can move. The digest is not
# written here because it was never looked up in the registry, and a digest that nobody has seen is worth nothing.
ARG PYTHON_IMAGE=docker.io/library/python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1
WORKDIR /src

# Dependencies come first: this layer is built again only when pyproject.toml changes. Only wheels, so the build
# needs no compiler and runs no setup script of a dependency.
COPY pyproject.toml ./
RUN python3 -c "import tomllib; print(*sorted(tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']), sep='\n')" > /requirements.txt \
 && python3 -m pip wheel --quiet --only-binary :all: --wheel-dir /wheels --requirement /requirements.txt

COPY README.md LICENSE ./
COPY certs certs
COPY cli cli
COPY policies policies
COPY webhook webhook
RUN python3 -m pip wheel --quiet --no-deps --wheel-dir /wheels .

# An environment without pip, and with no commands but ours. Byte code is checked against nothing at start: the files
# cannot change in an image, and without time stamps inside it is the same in every build.
RUN python3 -m venv --without-pip /opt/mgpu-hybrid \
 && python3 -m pip --python /opt/mgpu-hybrid/bin/python install --quiet --no-compile --no-index --find-links /wheels mgpu-hybrid \
 && find /opt/mgpu-hybrid/bin -type f ! -name mgpu-hybrid ! -name kubectl-mgpu -delete \
 && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/mgpu-hybrid/lib


FROM ${PYTHON_IMAGE}
ENV PATH=/opt/mgpu-hybrid/bin:${PATH} \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONNOUSERSITE=1 \
    PYTHONUNBUFFERED=1

# Everything is root's, and the process is not root: with or without a read-only root file system it can change none
# of it. Where the root file system is read-only, two paths need a volume of their own:
#   /var/lib/mgpu-hybrid  certificate authority and certificate, with --self-signed (as in CMD); not with --tls-dir
#   /tmp                  the workers' shared counters, with --workers above 1; not otherwise
RUN ["install", "-d", "-o", "65532", "-g", "65532", "-m", "0700", "/var/lib/mgpu-hybrid"]
COPY --from=build /opt/mgpu-hybrid /opt/mgpu-hybrid

USER 65532:65532
# 8443: HTTPS, /mutate and /validate. 8081: plain HTTP, /healthz, /readyz and /metrics.
EXPOSE 8443 8081
STOPSIGNAL SIGTERM
ENTRYPOINT ["mgpu-hybrid"]
CMD ["serve", "--host", "0.0.0.0", "--self-signed", "/var/lib/mgpu-hybrid"]

# Last, so that a new revision makes no layer anew.
ARG PYTHON_IMAGE
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="mgpu-hybrid" \
      org.opencontainers.image.description="Admission control for GPU online/offline hybrid deployment on Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${PYTHON_IMAGE}"
