#!/usr/bin/env python3
"""A front end for sdm-master in the standard library: drive.py SECRET-FILE HOST:PORT PROGRAM LOCATION EXPR
Then start: sdm-master --connect HOST:PORT --rendezvous ... (docs/protocol.md)
With dial:HOST:PORT it comes to a master that was started with --listen."""
import hashlib, hmac, json, os, socket, ssl, sys

if len(sys.argv) != 6:
    sys.exit(__doc__)
secret_file, where, program, location, expr = sys.argv[1:]
secret = bytes.fromhex(open(secret_file).read())
host, port = where.removeprefix("dial:").rsplit(":", 1)
if where.startswith("dial:"):
    conn = socket.create_connection((host, int(port)))
else:
    listener = socket.create_server((host, int(port)))
    print("listening on port", listener.getsockname()[1], flush=True)
    conn = listener.accept()[0]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # whoever has dialled, the master is the TLS server
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the proofs check the certificate
conn = context.wrap_socket(conn)
binding = hashlib.sha256(conn.getpeercert(binary_form=True)).hexdigest()
stream, events = conn.makefile("rwb"), []

def receive():
    length = 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    message = json.loads(stream.read(length)) if line else sys.exit("the master is gone")
    if message.get("method") == "event":
        events.append(message["params"])
        print("event", json.dumps(message["params"]), flush=True)
    return message

def call(method, **params):
    events.clear()
    body = json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()
    while (answer := receive()).get("id") != method:
        pass
    if "error" in answer:
        sys.exit(f"{method}: {answer['error']['message']}")
    print(method, json.dumps(answer["result"]), flush=True)
    return answer["result"]

def run(method, **params):  # and wait until all ranks have stopped or ended
    asked = call(method, **params)["done"]["asked"]
    while sum(e["n"] for e in events if e["event"] in ("stopped", "exited", "signalled", "lost")) < asked:
        receive()

def proof(who):
    text = f"sdm-rpc-1 {who}\n{theirs['challenge']}\n{mine}\n{binding}\n"
    return hmac.new(secret, text.encode(), "sha256").hexdigest()

mine = os.urandom(32).hex()
theirs = call("hello", version=1, challenge=mine)
if not hmac.compare_digest(theirs["proof"], proof("master")):
    sys.exit("the master does not know the secret")
call("authenticate", proof=proof("frontend"))
call("initialize")
run("launch", job={"program": program})
call("break", location=location)
run("continue")
call("print", expr=expr)
call("quit")
