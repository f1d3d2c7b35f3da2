#!/usr/bin/env python3
"""A front end for sdm-master in the standard library: drive.py SECRET-FILE HOST:PORT PROGRAM LOCATION EXPR
Then start: sdm-master --connect HOST:PORT --rendezvous ... (docs/protocol.md)
With dial:HOST:PORT it comes to a master that was started with --listen.
drive.py join ID EXPR joins a session of this host that others may share, asks and leaves (docs/sessions.md)."""
import hashlib, hmac, json, os, socket, ssl, struct, sys

def joined(session):
    folder = os.environ.get("XDG_STATE_HOME") or os.path.expanduser("~/.local/state")
    with open(f"{folder}/sdm/sessions/{session}.json") as file:
        name = json.load(file)["socket"]
    conn = socket.socket(socket.AF_UNIX)
    conn.connect("\0" + name.removeprefix("@"))
    _, user, _ = struct.unpack("3i", conn.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user not in (0, os.geteuid()):  # another user can take the name of a socket
        sys.exit(f"the socket of {session} is of user {user}")
    return conn

def met(where):
    host, port = where.removeprefix("dial:").rsplit(":", 1)
    if where.startswith("dial:"):
        conn = socket.create_connection((host, int(port)))
    else:
        listener = socket.create_server((host, int(port)))
        print("listening on port", listener.getsockname()[1], flush=True)
        conn = listener.accept()[0]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # whoever has dialled, the master is the TLS server
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the proofs check the certificate
    return context.wrap_socket(conn)

joins = sys.argv[1:2] == ["join"] and len(sys.argv) == 4
if not joins and len(sys.argv) != 6:
    sys.exit(__doc__)
conn = joined(sys.argv[2]) if joins else met(sys.argv[2])
stream, events, cursor = conn.makefile("rwb"), [], 0

def receive():
    global cursor
    length = 0
    while (line := stream.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    message = json.loads(stream.read(length)) if line else sys.exit("the master is gone")
    if message.get("method") == "event":
        events.append(message["params"])
        cursor = message["params"].get("cursor", cursor)
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

def share(session, expr):
    shared = call("initialize", front={"name": "drive.py", "door": "rpc"})["shared"]
    if first := shared.get("start"):  # nobody has started the ranks
        run(first["command"], **first.get("args", {}))
    call("print", expr=expr)
    call("leave", cursor=max(cursor, shared["cursor"]))

def own(secret_file, where, program, location, expr):
    prove(bytes.fromhex(open(secret_file).read()), hashlib.sha256(conn.getpeercert(binary_form=True)).hexdigest())
    call("initialize")
    run("launch", job={"program": program})
    call("break", location=location)
    run("continue")
    call("print", expr=expr)
    call("quit")

def prove(secret, binding):
    mine = os.urandom(32).hex()
    theirs = call("hello", version=1, challenge=mine)
    def proof(who):
        text = f"sdm-rpc-1 {who}\n{theirs['challenge']}\n{mine}\n{binding}\n"
        return hmac.new(secret, text.encode(), "sha256").hexdigest()
    if not hmac.compare_digest(theirs["proof"], proof("master")):
        sys.exit("the master does not know the secret")
    call("authenticate", proof=proof("frontend"))

share(*sys.argv[2:]) if joins else own(*sys.argv[1:])
