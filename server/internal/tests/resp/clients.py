"""Asks a server for IDs by redis-py: clients.py PORT [TOKEN]."""

import sys

import redis

port = int(sys.argv[1])
token = (sys.argv + [""])[2] or None
major = int(redis.__version__.split(".")[0])
seen = set()


def see(id):
    assert isinstance(id, int) and id > 2**53, id
    assert id not in seen, id
    seen.add(id)


for protocol in (2, 3) if major >= 5 else (2,):
    options = {"protocol": protocol} if major >= 5 else {}
    client = redis.Redis("127.0.0.1", port, password=token, client_name="test", **options)
    assert client.ping()
    see(client.incr("nanoflake"))
    see(client.incrby("nanoflake", 1))
    pipeline = client.pipeline(transaction=False)
    for _ in range(100):
        pipeline.incr("nanoflake")
    for id in pipeline.execute():
        see(id)
    first, count = client.execute_command("FIRN.RUN", "nanoflake", 10)
    for i in range(count):
        see(first + i)
    assert len(client.execute_command("FIRN.NEXT", "sno", 3)) == 3
    assert client.info()["firn_version"] == "1.2.3"
    assert client.client_getname() == "test"
    for call, words in ((lambda: client.incr("sno"), "form: "), (lambda: client.get("nanoflake"), "path: ")):
        try:
            call()
            raise AssertionError("no error")
        except redis.ResponseError as error:
            assert words in str(error), error
    if token:
        try:
            redis.Redis("127.0.0.1", port).incr("nanoflake")
            raise AssertionError("no error")
        except redis.AuthenticationError as error:
            assert "token" in str(error), error
    client.close()
