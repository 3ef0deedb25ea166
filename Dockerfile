# docker build -t torchlint .
# docker run --rm -v "$PWD:/project" --user "$(id -u):$(id -g)" torchlint check
FROM python:3.12-slim AS build
COPY pyproject.toml hatch_build.py README.md LICENSE /source/
COPY torchlint /source/torchlint
COPY rules /source/rules
RUN python -m pip wheel --quiet --wheel-dir /wheels /source

FROM python:3.12-slim
# git is for `--since`; a mounted repository belongs to somebody else.
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory '*'
COPY --from=build /wheels /wheels
RUN python -m pip install --quiet --no-index --find-links /wheels torchlint && rm -r /wheels
ENV TORCHLINT_CACHE_DIR=/tmp/torchlint
WORKDIR /project
ENTRYPOINT ["torchlint"]
CMD ["check"]
