# The mock server as an image. The project's tests do not build it: the packages of its second stage
# and the start of a statically linked server there were tried in a plain Debian 12 root instead.
#   docker build -t telemetry-workbench . && docker run --rm -p 8080:8080 telemetry-workbench
FROM swift:6.0-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends libsqlite3-dev zlib1g-dev libssl-dev libcurl4-openssl-dev
WORKDIR /source
COPY . .
RUN swift build -c release --product workbench --static-swift-stdlib

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libsqlite3-0 zlib1g libssl3 libcurl4 libxml2 \
  && rm -rf /var/lib/apt/lists/* && useradd --system workbench
COPY --from=build /source/.build/release/workbench /usr/local/bin/workbench
USER workbench
EXPOSE 8080
# Beyond loopback the admin endpoints need a token: add --admin-token.
ENTRYPOINT ["workbench", "serve"]
CMD ["--host", "0.0.0.0", "--port", "8080", "--log", "json"]
