# SPDX-License-Identifier: BSD-2-Clause
"""A receiver of the monitor's data. It answers as a test wants."""
import http.server
import ssl
import threading
import time
import urllib.parse


class Receiver:
    def __init__(self, case, certificate=None):
        """certificate: a file with its key, for https."""
        self.got = []  # path, headers and body, of each request
        self.times = []
        self.answer = (200, {}, b"")
        self.wait_s = 0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.times.append(time.monotonic())
                receiver.got.append((self.path, dict(self.headers), body))
                status, headers, text = receiver.answer
                time.sleep(receiver.wait_s)
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    if text is None:  # without an end
                        self.end_headers()
                        while True:
                            self.wfile.write(b"x" * 65536)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass

            def log_message(self, *args):
                pass

        self.handler = Handler
        self.certificate = certificate
        self.port = 0
        self.server = None
        self.start()
        case.finally_(self.stop)

    def start(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), self.handler)
        self.server.daemon_threads = True
        if self.certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(self.certificate)
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def url(self, path):
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}{path}"

    def queries(self):
        return [urllib.parse.parse_qs(urllib.parse.urlsplit(path).query) for path, _, _ in self.got]
