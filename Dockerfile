# syntax=docker/dockerfile:1
#
# The command line firn. It has no store of its own: name one, such as a directory on a volume that all
# containers of the machine share.
#
#	docker build --build-arg VERSION=v0.1.0 --build-arg COMMIT="$(git rev-parse HEAD)" -t firn .
#	for format in nanoflake ulidflake-scalable snowflakesi sno; do docker run --rm -v ids:/var/lib/firn firn pool create $format --state /var/lib/firn; done
#	docker run --rm -v ids:/var/lib/firn firn new nanoflake --state /var/lib/firn --no-create
#	docker run -d -v ids:/var/lib/firn -p 127.0.0.1:7433:7433 firn serve --listen 0.0.0.0:7433 --insecure --state /var/lib/firn --no-create

FROM golang:1.26 AS build
WORKDIR /src
COPY . .
ARG VERSION="" COMMIT="" TARGETOS=linux TARGETARCH
ENV CGO_ENABLED=0 GOOS=$TARGETOS
RUN GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X github.com/firn-id/firn/cmd/firn/internal/version.release=$VERSION -X github.com/firn-id/firn/cmd/firn/internal/version.commit=$COMMIT" \
        -o /out/firn ./cmd/firn \
    && mkdir -p /out/var/lib/firn

FROM scratch
ARG VERSION="" COMMIT=""
LABEL org.opencontainers.image.title="firn" \
      org.opencontainers.image.description="Time-ordered unique IDs, made and taken apart" \
      org.opencontainers.image.source="https://github.com/firn-id/firn" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
# Stores over TLS are trusted by these certificates.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/firn /firn
COPY --from=build /src/LICENSE /LICENSE
# A new volume takes its owner from this directory, which is empty.
COPY --from=build --chown=65532:65532 /out/var/lib/firn /var/lib/firn
USER 65532:65532
# Of firn serve.
EXPOSE 7433
STOPSIGNAL SIGTERM
ENTRYPOINT ["/firn"]
