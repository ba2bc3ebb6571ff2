# syntax=docker/dockerfile:1
# The make targets are the ones that continuous integration runs; tests/test_image.py compares.

FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY Makefile pyproject.toml requirements.lock ./
RUN make production
COPY manage.py ./
COPY chatsite chatsite
COPY conversations conversations
COPY templates templates
COPY static static
RUN make static

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --home-dir /app --shell /usr/sbin/nologin windowseat \
    && install -d -o windowseat -g windowseat /var/lib/windowseat
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/app/.venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    HOST=0.0.0.0 PORT=8000 VAR_DIR=/var/lib/windowseat
USER windowseat
VOLUME /var/lib/windowseat
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["python", "manage.py", "serve"]
