# SPDX-License-Identifier: BSD-2-Clause
"""A headless Chromium by chromedriver's own protocol (W3C WebDriver)."""
import base64
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Tab": "\ue004", "End": "\ue010"}


class Browser:
    def __init__(self, directory, dark=False, width=1200, height=900, touch=False):
        self.log = pathlib.Path(directory) / f"chromedriver-{id(self)}.log"
        self.session = None
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=open(self.log, "w"), stderr=subprocess.STDOUT,
            env={**os.environ, "HOME": str(directory)})
        self.base = f"http://127.0.0.1:{self.port()}"
        args = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                "--hide-scrollbars", f"--window-size={width},{height}"]
        if dark:
            args.append("--force-dark-mode")
        options = {"args": args, "binary": "/usr/bin/chromium"}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = made["sessionId"]
        # A window of Chromium is never narrower than 500 pixels; a device may be.
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=touch)
        self.cdp("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def port(self):
        for _ in range(200):
            found = re.search(r"successfully on port (\d+)", self.log.read_text())
            if found:
                return int(found.group(1))
            time.sleep(0.05)
        raise AssertionError(f"chromedriver did not start: {self.log.read_text()}")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.read().decode()[:2000]}") from None

    def command(self, name, body):
        return self.call("POST", f"/session/{self.session}/{name}", body)

    def cdp(self, name, **params):
        return self.command("goog/cdp/execute", {"cmd": name, "params": params})

    def open(self, path):
        self.command("url", {"url": pathlib.Path(path).resolve().as_uri()})

    def visit(self, url):
        self.command("url", {"url": url})

    def js(self, script, *args):
        """The script's `return`."""
        return self.command("execute/sync", {"script": script, "args": list(args)})

    def later(self, script):
        """Returns the value that the script gives to done(), which it calls once."""
        return self.command("execute/async", {
            "script": f"const done = arguments[0]; {script}", "args": []})

    def drawn(self):
        """Waits until the requested change has been drawn."""
        self.later("requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def element(self, css):
        return self.command("element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        # Scrolls it out from under the page's head, which stays in place.
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", css)
        self.command(f"element/{self.element(css)}/click", {})

    def type(self, css, text):
        self.command(f"element/{self.element(css)}/value", {"text": text})

    def keys(self, css, *keys):
        """Key by key to the element, which gets the focus."""
        self.js("document.querySelector(arguments[0]).focus()", css)
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.command("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})
        self.drawn()

    def pointer(self, kind, *actions):
        self.command("actions", {"actions": [{"type": "pointer", "id": kind,
                     "parameters": {"pointerType": kind}, "actions": list(actions)}]})
        self.drawn()

    def messages(self):
        """Returns the console's messages since the last call."""
        return self.command("se/log", {"type": "browser"})

    def screenshot(self, path, whole=True):
        size = self.js("return [document.documentElement.clientWidth,"
                       " document.documentElement.scrollHeight]")
        params = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            params["clip"] = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 8000),
                              "scale": 1}
        pathlib.Path(path).write_bytes(
            base64.b64decode(self.cdp("Page.captureScreenshot", **params)["data"]))

    def close(self):
        try:
            if self.session:
                self.call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait()
