//! `check --page`: recordings and all that shows and checks them, as one file that needs no network
//! and no server. A player attaches it to a report, and whoever opens it has the viewer.
//!
//! The viewer is the one that `serve` serves, read from its folder. What comes from recordings is
//! only ever text, or bytes as base64.

use std::fs;
use std::path::Path;

use data_encoding::BASE64;
use maud::{DOCTYPE, PreEscaped, html};

use super::failure::Failure;
use super::{files, link};

/// Each after those that it imports.
const MODULES: [&str; 5] = ["store.js", "beside.js", "viewer.js", "checker.js", "view.js"];
const LOADER: &str = include_str!("sealed/load.js");
/// It cannot ask anyone for anything.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob: data:; worker-src blob:; \
                      style-src 'unsafe-inline' blob:; base-uri 'none'; form-action 'none'";

/// The parts of a viewer, as it is built.
pub(super) struct Viewer {
    /// What stands in its page's body.
    body: String,
    style: String,
    report_style: String,
    report_script: String,
    modules: Vec<(&'static str, String)>,
    /// By gzip.
    program: Vec<u8>,
}

impl Viewer {
    /// That of the page beside this program.
    pub fn find() -> Result<Viewer, Failure> {
        let folder = link::folder();
        read(&folder).map_err(|error| {
            let advice = "make the page with `cargo xtask page`, or leave out --page";
            Failure::file("take the viewer from", &folder, format!("{error}; {advice}"))
        })
    }

    /// Writes a page that shows these files, each with its name.
    pub fn write(&self, shown: &[(String, &[u8])], page: &Path) -> Result<(), Failure> {
        files::write_page(page, &self.page(shown))
    }

    fn page(&self, shown: &[(String, &[u8])]) -> String {
        let Viewer { body, style, report_style, report_script, modules, program } = self;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
                    meta name="color-scheme" content="dark";
                    title { "Recordings" }
                    style { (PreEscaped(style)) }
                    script { (PreEscaped(report_script)) }
                }
                body {
                    (PreEscaped(body))
                    (text("report.css", report_style))
                    @for (name, module) in modules {
                        script type="text/plain" id=(name) data-module { (PreEscaped(module)) }
                    }
                    @for (n, (name, bytes)) in shown.iter().enumerate() {
                        script type="text/plain" id={ "file-" (n) } data-file=(name) { (BASE64.encode(bytes)) }
                    }
                    (text("program", &BASE64.encode(program)))
                    script type="module" { (PreEscaped(LOADER)) }
                }
            }
        };
        page.into_string()
    }
}

fn text(id: &str, text: &str) -> maud::Markup {
    html! { script type="text/plain" id=(id) { (PreEscaped(text)) } }
}

fn read(folder: &Path) -> std::io::Result<Viewer> {
    let part = |name: &str| fs::read_to_string(folder.join(name));
    // In a script's text nothing else would end it.
    let script = |name: &str| part(name).map(|text| text.replace("</script", "<\\/script"));
    let page = part("view.html")?;
    let body = page.split_once("<body>").and_then(|(_, rest)| rest.rsplit_once("</body>"));
    Ok(Viewer {
        body: body.map(|(body, _)| body.to_owned()).unwrap_or_default(),
        style: part("page.css")?,
        report_style: part("report.css")?,
        report_script: script("report.js")?,
        modules: MODULES.into_iter().map(|name| Ok((name, script(name)?))).collect::<std::io::Result<_>>()?,
        program: fs::read(folder.join("viewer_bg.wasm.gz"))?,
    })
}
