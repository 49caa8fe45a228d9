"""Receives webhooks: verifies the signature of each delivery, ignores repetitions, and prints the events.
It reads WEBHOOK_SECRET, and LISTEN, which is 127.0.0.1:8090 by default."""

import base64
import collections
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time

MAX_BODY = 64 << 10
MAX_AGE = 5 * 60  # seconds
MAX_SEEN = 10_000  # ids

try:
    KEY = base64.b64decode(os.environ.get("WEBHOOK_SECRET", "").removeprefix("whsec_"), validate=True)
except ValueError:
    KEY = b""
if not KEY:
    # Anyone could sign with an empty key.
    sys.exit("WEBHOOK_SECRET must be the secret of the webhook: whsec_ and Base64")


def genuine(headers, body):
    """Report whether the delivery was signed with the secret a short time ago."""
    name, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not at.isdecimal() or abs(time.time() - int(at)) > MAX_AGE:
        return False
    digest = hmac.digest(KEY, f"{name}.{at}.".encode() + body, hashlib.sha256)
    want = "v1," + base64.b64encode(digest).decode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(signature.encode(), want.encode()) for signature in given)


class Seen:
    """The newest ids. Safe for concurrent use."""

    def __init__(self):
        self._lock = threading.Lock()
        self._ids = collections.OrderedDict()

    def first(self, name):
        """Report whether an id is new, and record it."""
        with self._lock:
            if name in self._ids:
                return False
            self._ids[name] = True
            if len(self._ids) > MAX_SEEN:
                self._ids.popitem(last=False)
            return True


SEEN = Seen()


class Receiver(http.server.BaseHTTPRequestHandler):
    timeout = 20

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return self.answer(400)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            return self.answer(400)
        if not genuine(self.headers, body):
            return self.answer(401)
        try:
            event = json.loads(body)
        except ValueError:
            return self.answer(400)
        # The server repeats a delivery if the earlier answer was lost.
        if SEEN.first(self.headers["webhook-id"]):
            print(event["type"], self.headers["webhook-id"], flush=True)  # replace this line with your own code
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    host, port = os.environ.get("LISTEN", "127.0.0.1:8090").rsplit(":", 1)
    http.server.ThreadingHTTPServer((host, int(port)), Receiver).serve_forever()
