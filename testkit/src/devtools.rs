//! A browser's own protocol, as far as tests need it: a page is hidden, frozen, pictured, and asked
//! something. <https://chromedevtools.github.io/devtools-protocol/>

use std::net::TcpStream;
use std::path::Path;

use data_encoding::BASE64;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// How long something may take to come true on a page.
const PATIENCE_MS: u32 = 60_000;

/// A browser that is spoken to, and its first page.
pub struct DevTools {
    socket: WebSocket<TcpStream>,
    asked: u64,
    page: String,
    session: String,
    /// What stands in front of the page, if it is hidden.
    cover: Option<String>,
    complaints: Vec<String>,
}

impl DevTools {
    /// The browser that listens there: `ws://ADDRESS/PATH`.
    pub fn connect(url: &str) -> DevTools {
        let address = url.trim_start_matches("ws://").split('/').next().expect("an address");
        let stream = TcpStream::connect(address).expect("it listens");
        let (socket, _) = tungstenite::client(url, stream).expect("it answers");
        let (page, session) = (String::new(), String::new());
        let mut tools = DevTools { socket, asked: 0, page, session, cover: None, complaints: Vec::new() };
        let targets = tools.browser("Target.getTargets", json!({}));
        let is_page = |target: &&Value| target["type"] == "page";
        let page = targets["targetInfos"].as_array().expect("a list").iter().find(is_page).expect("a page");
        let page = text(&page["targetId"]);
        tools.attach(page);
        tools
    }

    /// Opens another page in its place. The script runs there before any of the page's own.
    pub fn go(&mut self, url: &str, script: &str) {
        self.page("Page.enable", json!({}));
        self.page("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
        self.page("Page.navigate", json!({ "url": url }));
    }

    /// What the page looks like now, as a PNG.
    pub fn picture(&mut self) -> Vec<u8> {
        let picture = self.page("Page.captureScreenshot", json!({}));
        BASE64.decode(text(&picture["data"]).as_bytes()).expect("it is a picture")
    }

    /// What the browser itself wrote in the page's console.
    pub fn complaints(&mut self) -> &[String] {
        // What it wrote before it answers has come by then.
        self.value("0");
        &self.complaints
    }

    /// Puts another page in front of the page, as who turns to something else does.
    pub fn hide(&mut self) {
        let cover = self.browser("Target.createTarget", json!({ "url": "about:blank" }));
        self.cover = Some(text(&cover["targetId"]));
        self.browser("Target.activateTarget", json!({ "targetId": self.cover }));
    }

    /// Takes it away.
    pub fn show(&mut self) {
        let cover = self.cover.take();
        self.browser("Target.closeTarget", json!({ "targetId": cover }));
        self.browser("Target.activateTarget", json!({ "targetId": self.page }));
    }

    /// Opens another page in another tab, and closes this one.
    pub fn close_for(&mut self, url: &str) {
        let before = std::mem::take(&mut self.page);
        let opened = self.browser("Target.createTarget", json!({ "url": url }));
        self.browser("Target.closeTarget", json!({ "targetId": before }));
        self.attach(text(&opened["targetId"]));
    }

    fn attach(&mut self, page: String) {
        let attached = self.browser("Target.attachToTarget", json!({ "targetId": page, "flatten": true }));
        (self.page, self.session) = (page, text(&attached["sessionId"]));
        self.page("Log.enable", json!({}));
    }

    /// Stops all that the page does, as a phone does whose screen is locked; or lets it go on.
    pub fn freeze(&mut self, is_frozen: bool) {
        let state = if is_frozen { "frozen" } else { "active" };
        self.page("Page.setWebLifecycleState", json!({ "state": state }));
    }

    /// Loads the page again.
    pub fn reload(&mut self) {
        self.value("window.isBefore = true");
        self.page("Page.reload", json!({}));
        self.until("!window.isBefore");
    }

    /// The page is a phone's from now on.
    pub fn become_phone(&mut self) {
        let screen = json!({ "width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": true });
        self.page("Emulation.setDeviceMetricsOverride", screen);
        self.page("Emulation.setTouchEmulationEnabled", json!({ "enabled": true }));
    }

    /// From now on the page shows all four times as large, on a screen of 1280 x 1024.
    pub fn zoom(&mut self) {
        let screen = json!({ "width": 320, "height": 256, "deviceScaleFactor": 4, "mobile": false });
        self.page("Emulation.setDeviceMetricsOverride", screen);
    }

    /// Clicks what has an id, as a person does: from then on the page may be heard.
    pub fn click(&mut self, id: &str) {
        let click = format!("document.getElementById('{id}').click()");
        self.page("Runtime.evaluate", json!({ "expression": click, "userGesture": true }));
    }

    /// Presses a key of a letter, as a person does.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let code = format!("Key{}", key.to_uppercase());
            let text = if kind == "keyDown" { key } else { "" };
            self.page("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": code, "text": text }));
        }
    }

    /// The mouse goes to a place of the screen, where one of its buttons goes down or up, or none.
    /// By their bits, `buttons` are down then.
    pub fn mouse(&mut self, kind: &str, button: &str, buttons: i32, (x, y): (i64, i64)) {
        let mouse = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1 });
        self.page("Input.dispatchMouseEvent", mouse);
    }

    /// Drags from one place of the screen to another, by the mouse or by a finger. `held` is done
    /// before it is let go.
    pub fn drag(&mut self, from: (i64, i64), to: (i64, i64), by_finger: bool, held: impl FnOnce(&mut DevTools)) {
        let quarters = |n| (from.0 + (to.0 - from.0) * n / 4, from.1 + (to.1 - from.1) * n / 4);
        let [down, moved, up] = match by_finger {
            true => ["touchStart", "touchMove", "touchEnd"],
            false => ["mousePressed", "mouseMoved", "mouseReleased"],
        };
        self.pointer(down, from);
        (1..=4).for_each(|n| self.pointer(moved, quarters(n)));
        held(self);
        self.pointer(up, to);
    }

    fn pointer(&mut self, kind: &str, (x, y): (i64, i64)) {
        if kind.starts_with("touch") {
            let points = if kind == "touchEnd" { json!([]) } else { json!([{ "x": x, "y": y }]) };
            self.page("Input.dispatchTouchEvent", json!({ "type": kind, "touchPoints": points }));
        } else {
            self.mouse(kind, "left", i32::from(kind != "mouseReleased"), (x, y));
        }
    }

    /// Chooses a file for what has an id, in place of the browser's own dialog.
    pub fn choose_file(&mut self, id: &str, file: &Path) {
        let asked = json!({ "expression": format!("document.getElementById('{id}')") });
        let place = self.page("Runtime.evaluate", asked)["result"]["objectId"].take();
        self.page("DOM.setFileInputFiles", json!({ "files": [file], "objectId": place }));
    }

    /// Drops a file, or a folder, at a place of the screen.
    pub fn drop_file(&mut self, (x, y): (i64, i64), file: &Path) {
        let data = json!({ "items": [], "files": [file], "dragOperationsMask": 1 });
        for kind in ["dragEnter", "dragOver", "drop"] {
            self.page("Input.dispatchDragEvent", json!({ "type": kind, "x": x, "y": y, "data": data }));
        }
    }

    /// Has the page's downloads put into a folder.
    pub fn download_to(&mut self, folder: &Path) {
        self.browser("Browser.setDownloadBehavior", json!({ "behavior": "allow", "downloadPath": folder }));
    }

    /// Waits until this is true on the page, in JavaScript.
    pub fn until(&mut self, condition: &str) {
        let look = format!(
            "new Promise((done) => {{
                const until = performance.now() + {PATIENCE_MS};
                const look = () => {{
                    if ({condition}) done(true);
                    else if (performance.now() > until) done('not true of ' + document.body.innerText);
                    else setTimeout(look, 20);
                }};
                look();
            }})"
        );
        assert_eq!(self.value(&look), true, "{condition}");
    }

    /// What an expression in JavaScript comes to on the page, once it is there.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        loop {
            let mut answer = self.page("Runtime.evaluate", asked.clone());
            assert!(answer["exceptionDetails"].is_null(), "{answer}");
            // What was asked of a page is lost as it is loaded.
            if !answer["result"].is_null() {
                return answer["result"]["value"].take();
            }
        }
    }

    /// Has the browser do something with the page. Returns its answer.
    pub fn page(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params, true)
    }

    fn browser(&mut self, method: &str, params: Value) -> Value {
        self.ask(method, params, false)
    }

    fn ask(&mut self, method: &str, params: Value, of_page: bool) -> Value {
        self.asked += 1;
        let mut question = json!({ "id": self.asked, "method": method, "params": params });
        if of_page {
            question["sessionId"] = self.session.clone().into();
        }
        self.socket.send(Message::text(question.to_string())).expect("it listens");
        loop {
            let message = self.socket.read().expect("it answers");
            let Ok(mut answer) = serde_json::from_str::<Value>(message.to_text().unwrap_or_default()) else { continue };
            if answer["id"] == self.asked {
                return answer["result"].take();
            }
            if answer["method"] == "Log.entryAdded" {
                let entry = &answer["params"]["entry"];
                self.complaints.push(format!("{} {}", text(&entry["text"]), entry["url"]));
            }
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
