"""A page in a real browser, Debian's Chromium or Firefox ESR, driven through one interface: without a window, a network or a
profile that stays. Needs of Debian: chromium or firefox-esr, and python3-websocket.

    with open_browser("firefox", width=390, height=844, dark=True) as page:
        page.go("lesson.html")
        page.key("ArrowRight")
        assert page.run("document.title") == "Attention" and page.messages == []

Chromium speaks its DevTools protocol, Firefox WebDriver BiDi; both listen on a port of 127.0.0.1 that they choose themselves."""
import base64
import contextlib
import json
import os
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

try:
    import websocket  # type: ignore
except ImportError:
    websocket = None

Json = dict[str, Any]

# The first that is there is started. Debian's script /usr/bin/chromium only adds flags and keys for services that no test wants.
PROGRAMS = {"chromium": ("/usr/lib/chromium/chromium", "chromium", "google-chrome"),
            "firefox": ("/usr/lib/firefox-esr/firefox-esr", "firefox-esr", "firefox")}


class BrowserError(Exception):
    """What the browser refused or did not do, or the page's exception, in one sentence."""


def program_of(name: str) -> Optional[str]:
    """The browser's program, if it is installed."""
    return next((found for candidate in PROGRAMS[name] if (found := shutil.which(candidate))), None)


def available() -> list[str]:
    """The browsers that `open_browser` can open here."""
    return [name for name in PROGRAMS if websocket is not None and program_of(name)]


def installed_or_skip() -> list[str]:
    """The same; where there is none, ends the program with 77, which says that nothing was tested."""
    installed = available()
    if not installed:
        print("Neither Chromium nor Firefox with python3-websocket is installed: nothing is tested")
        sys.exit(77)
    return installed


# ---- keys ----

class Key(NamedTuple):
    name: str           # `key` of the page's event
    code: str           # `code`: where the key is on a US keyboard
    number: int         # `keyCode`
    webdriver: str      # how WebDriver names it
    text: str = ""      # what it types
    shifted: bool = False


NAMED_KEYS = {key.name: key for key in [
    Key("Backspace", "Backspace", 8, "\ue003"), Key("Tab", "Tab", 9, "\ue004"), Key("Enter", "Enter", 13, "\ue007", "\r"),
    Key("Escape", "Escape", 27, "\ue00c"), Key("PageUp", "PageUp", 33, "\ue00e"), Key("PageDown", "PageDown", 34, "\ue00f"),
    Key("End", "End", 35, "\ue010"), Key("Home", "Home", 36, "\ue011"), Key("ArrowLeft", "ArrowLeft", 37, "\ue012"),
    Key("ArrowUp", "ArrowUp", 38, "\ue013"), Key("ArrowRight", "ArrowRight", 39, "\ue014"),
    Key("ArrowDown", "ArrowDown", 40, "\ue015"), Key("Insert", "Insert", 45, "\ue016"), Key("Delete", "Delete", 46, "\ue017"),
    *(Key(f"F{n}", f"F{n}", 111 + n, chr(0xe030 + n)) for n in range(1, 13)),
    Key("Shift", "ShiftLeft", 16, "\ue008"), Key("Control", "ControlLeft", 17, "\ue009"), Key("Alt", "AltLeft", 18, "\ue00a"),
]}
# (where, its keyCode, what it types, what it types with Shift)
PRINTING_KEYS = [("Space", 32, " ", " "), ("Minus", 189, "-", "_"), ("Equal", 187, "=", "+"), ("BracketLeft", 219, "[", "{"),
                 ("BracketRight", 221, "]", "}"), ("Backslash", 220, "\\", "|"), ("Semicolon", 186, ";", ":"),
                 ("Quote", 222, "'", '"'), ("Backquote", 192, "`", "~"), ("Comma", 188, ",", "<"), ("Period", 190, ".", ">"),
                 ("Slash", 191, "/", "?"),
                 *((f"Digit{digit}", ord(digit), digit, sign) for digit, sign in zip(string.digits, ")!@#$%^&*(")),
                 *((f"Key{capital}", ord(capital), capital.lower(), capital) for capital in string.ascii_uppercase)]


def key_of(name: str, shift: bool) -> Key:
    """The key of a name as in `KeyboardEvent.key`, or of the character that it types."""
    name = {"\n": "Enter", "\t": "Tab", "Space": " "}.get(name, name)
    if name in NAMED_KEYS:
        return NAMED_KEYS[name]._replace(shifted=shift)
    for code, number, plain, with_shift in PRINTING_KEYS:
        if name in (plain, with_shift):
            shifted = shift or name != plain
            text = with_shift if shifted else plain
            return Key(text, code, number, text, text, shifted)
    if len(name) != 1:
        raise BrowserError(f"There is no key \"{name}\".")
    return Key(name, "", 0, name, name, shift)


# ---- what both browsers share ----

class Connection:
    """Calls and their answers over one web socket. Events go to `on_event`, in order, whenever something is read."""

    def __init__(self, browser: str, url: str, timeout: float, why_ended: Callable[[], str]) -> None:
        self.browser, self.timeout, self.count, self.why_ended = browser, timeout, 0, why_ended
        self.whose: Json = {}   # what names the page in each call
        self.on_event: Callable[[str, Json], None] = lambda method, params: None
        try:
            # No Origin: Chromium would refuse one, a web page's.
            self.socket = websocket.create_connection(url, timeout=timeout, suppress_origin=True, enable_multithread=False)
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"{browser} does not answer on {url}: {error}") from None

    def read(self, timeout: float) -> Optional[Json]:
        """The next answer or event; None after `timeout` seconds without one."""
        self.socket.settimeout(max(timeout, 0.001))
        try:
            message: Json = json.loads(self.socket.recv())
        except websocket.WebSocketTimeoutException:
            return None
        except (OSError, ValueError, websocket.WebSocketException) as error:
            raise BrowserError(f"{error or type(error).__name__} {self.why_ended()}") from None
        if "method" in message:
            self.on_event(message["method"], message["params"])
        return message

    def send(self, method: str, **params: Any) -> int:
        self.count += 1
        try:
            self.socket.send(json.dumps({"id": self.count, "method": method, "params": params, **self.whose}))
        except (OSError, websocket.WebSocketException) as error:
            raise BrowserError(f"{error or type(error).__name__} {self.why_ended()}") from None
        return self.count

    def call(self, method: str, **params: Any) -> Json:
        number, until = self.send(method, **params), time.monotonic() + self.timeout
        while (left := until - time.monotonic()) > 0:
            message = self.read(left)
            if message is None or message.get("id") != number:
                continue
            if "error" in message:      # DevTools: an object with a message; BiDi: a word, with a message beside it
                error = message["error"]
                raise BrowserError(f"{method}: {error['message'] if isinstance(error, dict) else message['message']}")
            result: Json = message["result"]
            return result
        raise BrowserError(f"{self.browser} did not answer {method} within {self.timeout:g} s.")

    def read_until(self, what: str, done: Callable[[], bool]) -> None:
        until = time.monotonic() + self.timeout
        while not done():
            if (left := until - time.monotonic()) <= 0:
                raise BrowserError(f"{self.browser}: {what} took more than {self.timeout:g} s.")
            self.read(left)

    def read_what_came(self) -> None:
        """Reads until nothing comes for a twentieth of a second, at most for two."""
        until = time.monotonic() + 2
        while self.read(0.05) is not None and time.monotonic() < until:
            pass


# Takes arguments and gives its value as JSON text, so that both browsers' values are the same.
RUN = """async text => {{
  const args = JSON.parse(text);
  const value = await (async () => {{ {code}
  }})();
  return JSON.stringify(value, (key, it) => {{
    if (typeof it === "number" && !Number.isFinite(it)) throw new TypeError(`${{key || "the value"}} is ${{it}}, which JSON lacks`);
    return it;
  }});
}}"""


class Page(ABC):
    """One page. Whatever goes wrong in it or does not come in time raises `BrowserError`."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._url = connection, "about:blank"
        self._messages: list[str] = []
        self._requests: list[str] = []
        self._failed: set[str] = set()
        connection.on_event = self._on_event

    def go(self, path_or_url: Union[str, Path]) -> None:
        """Opens a file, perhaps with a #fragment, or an address, and waits until it is loaded."""
        place = str(path_or_url)
        if not re.match(r"(\w+://|about:|data:)", place):
            path, mark, fragment = place.partition("#")
            place = Path(path).resolve().as_uri() + mark + fragment
        self._url = place
        self._go(self._url)

    def run(self, code: str, *args: Any) -> Any:
        """The value of an expression in the page, or what a function's body returns: code with the word `return`, or that ends in
        a semicolon, is a body. `await` works in both, `args` holds the arguments. The value is what JSON makes of it."""
        is_body = re.search(r"\breturn\b", code) or code.rstrip().endswith(";")
        text = self._run(RUN.format(code=code if is_body else f"return ({code}\n);"), json.dumps(args))
        return None if text is None else json.loads(text)

    def wait(self, code: str, *args: Any, timeout: float = 10) -> Any:
        """Runs `code` until its value is true in JavaScript's sense of a number, word or truth value, and gives that value."""
        until = time.monotonic() + timeout
        while not (value := self.run(code, *args)):
            if time.monotonic() > until:
                raise BrowserError(f"Not within {timeout:g} s: {code}")
            time.sleep(0.02)
        return value

    def key(self, name: str, shift: bool = False, ctrl: bool = False, alt: bool = False) -> None:
        """Presses and releases a key, named as in `KeyboardEvent.key` ("ArrowRight", "a", "?"); what needs Shift gets it."""
        key = key_of(name, shift)
        held = [NAMED_KEYS[word] for word, on in (("Control", ctrl), ("Alt", alt), ("Shift", key.shifted)) if on]
        self._press(key._replace(text="") if ctrl or alt else key, held)

    def type(self, text: str) -> None:
        for character in text:
            self.key(character)

    def move(self, x: float, y: float) -> None:
        """Moves the mouse, in CSS pixels from the top left of what is seen."""
        self._mouse([("move", x, y)])

    def click(self, x: float, y: float) -> None:
        self._mouse([("move", x, y), ("down", x, y), ("up", x, y)])

    def drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        middle = ("move", (x + to_x) / 2, (y + to_y) / 2)
        self._mouse([("move", x, y), ("down", x, y), middle, ("move", to_x, to_y), ("up", to_x, to_y)])

    def center(self, selector: str) -> tuple[float, float]:
        """Where to click an element, after it was scrolled into sight."""
        x, y = self.run("""const element = document.querySelector(args[0]);
            if (!element) throw new Error(`nothing is ${args[0]}`);
            element.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
            const box = element.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];""", selector)
        return x, y

    def screenshot(self, path: Union[str, Path]) -> None:
        """Writes what is seen as PNG, a pixel for each CSS pixel."""
        Path(path).write_bytes(base64.b64decode(self._screenshot()))

    def print_pdf(self, path: Union[str, Path], background: bool = False) -> None:
        """Prints on A4, with backgrounds if asked, as a person's browser does."""
        Path(path).write_bytes(base64.b64decode(self._pdf(background)))

    @property
    def messages(self) -> list[str]:
        """All that the console was told since the page was opened: "warn: …" and the other levels by the name of their method,
        "exception: …", "csp: …", "request failed: …", "dialog: …" (each is accepted)."""
        self._connection.read_what_came()
        return list(self._messages)

    @property
    def requests(self) -> list[str]:
        """What was requested besides the file itself, tried or done; neither data: nor blob:, which are in the page."""
        self._connection.read_what_came()
        return list(self._requests)

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Gives the page another size, in CSS pixels."""

    @abstractmethod
    def accessible_tree(self) -> list[tuple[str, str]]:
        """Role and name of all that a screen reader is told, in order. Roles are those of ARIA, "text" for a run of text;
        what only groups and has no name is left out. Roles differ a little between browsers."""

    @abstractmethod
    def _on_event(self, method: str, params: Json) -> None: ...

    @abstractmethod
    def _go(self, url: str) -> None: ...

    @abstractmethod
    def _run(self, function: str, text: str) -> Optional[str]: ...

    @abstractmethod
    def _press(self, key: Key, held: list[Key]) -> None: ...

    @abstractmethod
    def _mouse(self, steps: list[tuple[str, float, float]]) -> None: ...

    @abstractmethod
    def _screenshot(self) -> str: ...

    @abstractmethod
    def _pdf(self, background: bool) -> str: ...

    def _requested(self, url: str) -> None:
        if not url.startswith(("data:", "blob:")) and url.partition("#")[0] != self._url.partition("#")[0]:
            self._requests.append(url)

    def _request_failed(self, url: str, why: str) -> None:
        if url not in self._failed:
            self._failed.add(url)
            self._messages.append(f"request failed: {url}: {why}")


# ---- Chromium ----

CHROMIUM_FLAGS = [
    "--headless", "--remote-debugging-port=0", "--no-startup-window",
    "--log-level=3",                # only what ends it: not that there is no D-Bus
    "--no-sandbox",                 # root, as in a container, cannot have it
    "--disable-dev-shm-usage",      # a container's /dev/shm is 64 MB
    "--disable-gpu", "--disable-lcd-text", "--font-render-hinting=none", "--force-color-profile=srgb", "--lang=en-US",
    # Nothing is fetched for the browser's own sake, and no name is looked up for anyone's.
    "--no-proxy-server", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
    "--disable-domain-reliability", "--disable-client-side-phishing-detection", "--metrics-recording-only", "--no-pings",
    "--no-first-run", "--no-default-browser-check", "--disable-search-engine-choice-screen", "--disable-breakpad",
    "--disable-crash-reporter", "--password-store=basic",
    "--disable-features=Translate,OptimizationHints,OptimizationGuideModelDownloading,MediaRouter,AutofillServerCommunication",
]


class Chromium(Page):
    def __init__(self, connection: Connection, width: int, height: int, dark: bool, reduced_motion: bool) -> None:
        super().__init__(connection)
        self._loaded: set[str] = set()      # the documents that are, by their loader
        self._asked: dict[str, str] = {}    # request's id -> address
        target = connection.call("Target.createTarget", url="about:blank")["targetId"]
        connection.whose = {"sessionId": connection.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Inspector", "Page", "Runtime", "Log", "Network", "Accessibility"):
            connection.call(f"{domain}.enable")
        connection.call("Page.setLifecycleEventsEnabled", enabled=True)
        connection.call("Emulation.setFocusEmulationEnabled", enabled=True)
        connection.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        self._connection.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def _on_event(self, method: str, params: Json) -> None:
        if method == "Page.lifecycleEvent" and params["name"] == "load":
            self._loaded.add(params["loaderId"])
        elif method == "Inspector.targetCrashed":
            raise BrowserError("The page has crashed.")
        elif method == "Page.javascriptDialogOpening":
            self._messages.append(f"dialog: {params['message']}")
            self._connection.send("Page.handleJavaScriptDialog", accept=True)
        elif method == "Runtime.consoleAPICalled":
            words = [self._text(arg) for arg in params["args"]]
            level = {"warning": "warn"}.get(params["type"], params["type"])
            self._messages.append(f"{level}: {' '.join(words)}")
        elif method == "Runtime.exceptionThrown":
            self._messages.append(f"exception: {self._exception(params['exceptionDetails'])}")
        elif method == "Log.entryAdded":
            entry = params["entry"]
            if "Content Security Policy" in entry["text"]:
                self._messages.append(f"csp: {entry['text']}")
            elif not entry["text"].startswith("Failed to load resource: net::"):    # said by Network.loadingFailed
                self._messages.append(f"{ {'warning': 'warn'}.get(entry['level'], entry['level']) }: {entry['text']}")
        elif method == "Network.requestWillBeSent":
            self._asked[params["requestId"]] = params["request"]["url"]
            self._requested(params["request"]["url"])
        elif method == "Network.loadingFailed":
            self._request_failed(self._asked.get(params["requestId"], "?"), params.get("blockedReason") or params["errorText"])

    @staticmethod
    def _exception(details: Json) -> str:
        thrown = details.get("exception", {})
        return Chromium._text(thrown) if thrown else str(details["text"])

    @staticmethod
    def _text(it: Json) -> str:
        """A value as the console shows it, an exception without its stack."""
        if "value" in it:
            return it["value"] if isinstance(it["value"], str) else json.dumps(it["value"])
        return str(it.get("description", it["type"])).split("\n    at ")[0]

    def _go(self, url: str) -> None:
        result = self._connection.call("Page.navigate", url=url)
        if result.get("errorText"):
            raise BrowserError(f"{url}: {result['errorText']}")
        if loader := result.get("loaderId"):    # none: only the part after # has changed
            self._connection.read_until(f"loading {url}", lambda: loader in self._loaded)

    def _run(self, function: str, text: str) -> Optional[str]:
        window = self._connection.call("Runtime.evaluate", expression="globalThis")["result"]["objectId"]
        result = self._connection.call("Runtime.callFunctionOn", functionDeclaration=function, objectId=window,
                                       arguments=[{"value": text}], awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(self._exception(result["exceptionDetails"]))
        value: Optional[str] = result["result"].get("value")
        return value

    def _press(self, key: Key, held: list[Key]) -> None:
        bits = {"Alt": 1, "Control": 2, "Shift": 8}

        def send(type_: str, it: Key, modifiers: int, text: str = "") -> None:
            self._connection.call("Input.dispatchKeyEvent", type=type_, key=it.name, code=it.code, windowsVirtualKeyCode=it.number,
                                  modifiers=modifiers, text=text, unmodifiedText=text)

        modifiers = 0
        for it in held:
            modifiers |= bits[it.name]
            send("rawKeyDown", it, modifiers)
        send("keyDown" if key.text else "rawKeyDown", key, modifiers, key.text)
        send("keyUp", key, modifiers)
        for it in reversed(held):
            modifiers &= ~bits[it.name]
            send("keyUp", it, modifiers)

    def _mouse(self, steps: list[tuple[str, float, float]]) -> None:
        types, down = {"move": "mouseMoved", "down": "mousePressed", "up": "mouseReleased"}, False
        for kind, x, y in steps:
            down = kind == "down" or (down and kind == "move")
            self._connection.call("Input.dispatchMouseEvent", type=types[kind], x=x, y=y, buttons=int(down),
                                  button="left" if down or kind == "up" else "none", clickCount=int(kind != "move"))

    def _screenshot(self) -> str:
        return str(self._connection.call("Page.captureScreenshot", format="png")["data"])

    def _pdf(self, background: bool) -> str:
        return str(self._connection.call("Page.printToPDF", printBackground=background, preferCSSPageSize=True, paperWidth=210 / 25.4,
                                         paperHeight=297 / 25.4)["data"])

    def accessible_tree(self) -> list[tuple[str, str]]:
        nodes = {node["nodeId"]: node for node in self._connection.call("Accessibility.getFullAXTree")["nodes"]}
        names = {"RootWebArea": "document", "StaticText": "text"}
        tree: list[tuple[str, str]] = []

        def walk(node: Json) -> None:
            role, name = node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "").strip()
            silent = role in ("InlineTextBox", "LineBreak") or (role in ("none", "generic", "StaticText") and not name)
            if not node["ignored"] and not silent:
                tree.append((names.get(role, role), name))
            for child in node.get("childIds", []):
                if child in nodes:
                    walk(nodes[child])

        for node in nodes.values():
            if "parentId" not in node:
                walk(node)
        return tree


def open_chromium(process: "Process", width: int, height: int, dark: bool, reduced_motion: bool) -> Page:
    process.start([*CHROMIUM_FLAGS, f"--user-data-dir={process.folder}", f"--window-size={width},{height}"])

    def address() -> Optional[str]:
        port, path = (process.folder / "DevToolsActivePort").read_text().split("\n")
        return f"ws://127.0.0.1:{port}{path}"

    return Chromium(process.connect(address), width, height, dark, reduced_motion)


# ---- Firefox ----

# Besides what Firefox itself sets when it is driven (updates, telemetry and first pages are off then).
FIREFOX_PREFERENCES: dict[str, Union[bool, int, str]] = {
    "network.proxy.type": 0,
    "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True, "network.prefetch-next": False, "network.predictor.enabled": False,
    "network.trr.mode": 5,
    "app.update.disabledForTesting": True, "app.normandy.enabled": False, "app.shield.optoutstudies.enabled": False,
    "extensions.update.enabled": False, "extensions.systemAddon.update.enabled": False, "extensions.getAddons.cache.enabled": False,
    "browser.region.update.enabled": False, "browser.region.network.url": "", "browser.search.update": False,
    "browser.safebrowsing.downloads.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "browser.safebrowsing.update.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1", "dom.push.connection.enabled": False,
    "media.gmp-manager.updateEnabled": False, "browser.newtabpage.enabled": False, "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0, "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.enabled": False, "toolkit.telemetry.server": "", "messaging-system.rsexperimentloader.enabled": False,
    "intl.accept_languages": "en-US, en",
    "accessibility.tabfocus": 7,    # Tab goes to everything
}
# Firefox has no event for a file that is not there: the elements say so.
FIREFOX_FAILURES = """report => addEventListener("error", event => {
  const it = event.target;
  if (it !== window) report(String(it.src || it.href || it.data || it.localName));
}, true)"""
# In the browser's own window: the tree as it is given to the system's screen reader. It is made when it is first asked for.
FIREFOX_TREE = """async () => {
  const service = Cc["@mozilla.org/accessibilityService;1"].getService(Ci.nsIAccessibilityService);
  const pause = () => new Promise(done => setTimeout(done, 50));
  const flat = () => {
    const browser = service.getAccessibleFor(gBrowser.selectedBrowser), nodes = [];
    const walk = node => {
      const role = service.getStringRole(node.role);
      nodes.push([role === "text leaf" ? "text" : node.computedARIARole || "", (node.name || "").trim()]);
      for (let i = 0; i < node.childCount; i++) walk(node.getChildAt(i));
    };
    if (browser && browser.childCount) walk(browser.getChildAt(0));
    return JSON.stringify(nodes);
  };
  let before = "", now = flat();
  for (let i = 0; i < 100 && (now === "[]" || now !== before); i++) {   // until it is there and stays
    await pause();
    [before, now] = [now, flat()];
  }
  return now;
}"""


class Firefox(Page):
    def __init__(self, connection: Connection, width: int, height: int) -> None:
        super().__init__(connection)
        call = connection.call
        call("session.new", capabilities={"alwaysMatch": {"unhandledPromptBehavior": {"default": "accept"}}})
        self._context: str = call("browsingContext.getTree")["contexts"][0]["context"]
        call("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent", "network.fetchError", "script.message",
                                          "browsingContext.userPromptOpened"])
        call("script.addPreloadScript", functionDeclaration=FIREFOX_FAILURES, sandbox="headwise",
             arguments=[{"type": "channel", "value": {"channel": "failed"}}])
        # A window without a page has its focus in the address bar; and a driven Firefox lets a file read its neighbours, as no
        # person's does.
        self._call(self._window(), """() => {
          window.focus();
          gBrowser.selectedBrowser.focus();
          Services.prefs.setBoolPref("security.fileuri.strict_origin_policy", true);
        }""")
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        self._connection.call("browsingContext.setViewport", context=self._context, viewport={"width": width, "height": height},
                              devicePixelRatio=1)

    def _on_event(self, method: str, params: Json) -> None:
        if method == "log.entryAdded":
            text = params.get("text") or ""
            if params["type"] == "console":
                self._messages.append(f"{params['method']}: {text}")
            elif text.startswith("Content-Security-Policy"):
                self._messages.append(f"csp: {text}")
            else:
                self._messages.append(f"{'exception' if params['level'] == 'error' else params['level']}: {text}")
        elif method == "network.beforeRequestSent":
            self._requested(params["request"]["url"])
        elif method == "network.fetchError":
            self._request_failed(params["request"]["url"], params["errorText"])
        elif method == "script.message":
            url = params["data"]["value"]
            if url.startswith("file:"):
                self._requested(url)
            self._request_failed(url, "it did not load")
        elif method == "browsingContext.userPromptOpened":
            self._messages.append(f"dialog: {params['message']}")

    def _go(self, url: str) -> None:
        self._connection.call("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def _window(self) -> str:
        """The browser's own."""
        window: str = self._connection.call("browsingContext.getTree", **{"moz:scope": "chrome"})["contexts"][0]["context"]
        return window

    def _call(self, context: str, function: str, *texts: str) -> Optional[str]:
        result = self._connection.call("script.callFunction", functionDeclaration=function, target={"context": context},
                                       arguments=[{"type": "string", "value": text} for text in texts], awaitPromise=True)
        if result["type"] == "exception":
            raise BrowserError(result["exceptionDetails"]["text"])
        value: Optional[str] = result["result"].get("value")
        return value

    def _run(self, function: str, text: str) -> Optional[str]:
        return self._call(self._context, function, text)

    def _act(self, source: Json, actions: list[Json]) -> None:
        self._connection.call("input.performActions", context=self._context, actions=[{**source, "actions": actions}])

    def _press(self, key: Key, held: list[Key]) -> None:
        words = [it.webdriver for it in (*held, key)]
        self._act({"type": "key", "id": "keyboard"}, [*({"type": "keyDown", "value": word} for word in words),
                                                      *({"type": "keyUp", "value": word} for word in reversed(words))])

    def _mouse(self, steps: list[tuple[str, float, float]]) -> None:
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)} if kind == "move" else
                   {"type": {"down": "pointerDown", "up": "pointerUp"}[kind], "button": 0} for kind, x, y in steps]
        self._act({"type": "pointer", "id": "mouse"}, actions)

    def _screenshot(self) -> str:
        return str(self._connection.call("browsingContext.captureScreenshot", context=self._context)["data"])

    def _pdf(self, background: bool) -> str:
        return str(self._connection.call("browsingContext.print", context=self._context, background=background,
                                         page={"width": 21.0, "height": 29.7})["data"])

    def accessible_tree(self) -> list[tuple[str, str]]:
        self.run("await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")     # it is told of changes
        nodes = json.loads(self._call(self._window(), FIREFOX_TREE) or "[]")
        return [(role, name) for role, name in nodes if role and (name or role not in ("generic", "none", "text"))]


def open_firefox(process: "Process", width: int, height: int, dark: bool, reduced_motion: bool) -> Page:
    preferences = {**FIREFOX_PREFERENCES, "ui.systemUsesDarkTheme": int(dark), "ui.prefersReducedMotion": int(reduced_motion),
                   "layout.css.prefers-color-scheme.content-override": 0 if dark else 1}
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()]
    (process.folder / "user.js").write_text("".join(lines))
    process.start(["--headless", "--no-remote", "--profile", str(process.folder), "--remote-debugging-port", "0",
                   "--remote-allow-system-access",      # for the focus and the accessible tree, which BiDi lacks
                   "about:blank"])

    def session_address() -> Optional[str]:
        server = json.loads((process.folder / "WebDriverBiDiServer.json").read_text())
        return f"ws://{server['ws_host']}:{server['ws_port']}/session"

    return Firefox(process.connect(session_address), width, height)


# ---- the process ----

class Process:
    """A browser and its folder: profile, home and temporary files."""

    def __init__(self, name: str, program: str, folder: Path, timeout: float) -> None:
        self.name, self.program, self.folder, self.timeout = name, program, folder, timeout
        self.process: Optional["subprocess.Popen[bytes]"] = None
        self.connection: Optional[Connection] = None

    def start(self, arguments: list[str]) -> None:
        left_out = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_", "DBUS_", "MOZ_", "CHROME_", "GOOGLE_", "LC_", "LANGUAGE")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        here = str(self.folder)
        environment.update(HOME=here, TMPDIR=here, XDG_RUNTIME_DIR=here, LANG="C.UTF-8", MOZ_CRASHREPORTER_DISABLE="1",
                           MOZ_REMOTE_SETTINGS_DEVTOOLS="1",    # else services.settings.server is not heeded
                           DBUS_SESSION_BUS_ADDRESS="disabled:", GSETTINGS_BACKEND="memory", NO_AT_BRIDGE="1")
        # Ends with this process, even where that is killed.
        tie = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        with open(self.folder / "stderr", "wb") as errors:
            self.process = subprocess.Popen([*tie, self.program, *arguments], stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                            env=environment, start_new_session=True)

    def connect(self, address: Callable[[], Optional[str]]) -> Connection:
        """Connects to the address as soon as it is there."""
        assert self.process
        until = time.monotonic() + self.timeout
        while self.process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError, ValueError):   # not there yet, or half written
                if found := address():
                    self.connection = Connection(self.name, found, self.timeout, self.why_ended)
                    return self.connection
            time.sleep(0.02)
        raise BrowserError(f"{self.name} did not start within {self.timeout:g} s {self.why_ended()}")

    def why_ended(self) -> str:
        """For a message: whether it runs, and the last that it said."""
        assert self.process
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        ended = self.process.poll()
        said = (self.folder / "stderr").read_text(errors="replace").strip().split("\n")
        return f"({self.name} {'runs' if ended is None else f'has ended with {ended}'}; its last line: {said[-1]})"

    def end(self) -> None:
        if self.connection:
            with contextlib.suppress(OSError, websocket.WebSocketException):
                self.connection.socket.shutdown()
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for _ in range(100):    # children that die a moment later may write until then
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.05)


@contextlib.contextmanager
def open_browser(name: str, width: int = 1280, height: int = 720, dark: bool = False, reduced_motion: bool = False,
                 timeout: float = 60) -> Iterator[Page]:
    """An empty page in a fresh browser, "chromium" or "firefox", that ends with the block. What takes more than `timeout` seconds
    raises `BrowserError`."""
    program = program_of(name)
    if websocket is None or program is None:
        raise BrowserError(f"Not installed: {name if websocket is not None else 'python3-websocket'}.")
    process = Process(name, program, Path(tempfile.mkdtemp(prefix=f"headwise-{name}-")), timeout)
    try:
        yield (open_chromium if name == "chromium" else open_firefox)(process, width, height, dark, reduced_motion)
    finally:
        process.end()
