# The command line, the page and a Spark worker in one image, from the pinned requirements:
#   docker build -t shoal .
#   docker run --rm -v "$PWD:/data" shoal anonymize /data/people.csv --quasi age --sensitive pay …
#   docker run --rm --network host shoal serve --port 8000 --no-browser
#   docker run --rm --entrypoint spark-class shoal org.apache.spark.deploy.worker.Worker spark://HOST:7077
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends openjdk-17-jre-headless procps \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/shoal
COPY requirements-dev.txt requirements-spark.txt pyproject.toml README.md LICENSE ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements-dev.txt \
    && pip install --no-cache-dir --require-hashes --requirement requirements-spark.txt
COPY src ./src
# Numba uses compiled kernels only where it could write them, so they belong to who runs them.
RUN pip install --no-cache-dir --no-deps --no-build-isolation . \
    && useradd --create-home shoal \
    && chown -R shoal /usr/local/lib/python3.11/site-packages/shoal/kernels \
    && su shoal -c "cd / && /usr/local/bin/python -c 'from shoal.kernels import load_all; load_all()'"

ENV PYSPARK_PYTHON=/usr/local/bin/python
USER shoal
WORKDIR /data
ENTRYPOINT ["shoal"]
CMD ["--help"]
