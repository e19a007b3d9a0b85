//! A network in which hosts lose each other: each host is a network namespace of Linux, and a
//! router lies between all of them, which drops what it is told to.
//!
//! A test with such a network runs once more, in a process of its own and in namespaces of its own.
//! So it never touches the network of the machine, and nothing is left of it, however it ends.

use std::io::{Write, stderr};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};

/// Says that this process has a network of its own.
const INSIDE: &str = "LOCKSTONE_TEST_NETWORK";
/// The namespaces that a test is in. Who is not root becomes it in a namespace of users.
const NAMESPACES: [&[&str]; 2] = [&["--net", "--mount"], &["--net", "--mount", "--user", "--map-root-user"]];

/// This process is the router. Hosts are numbered from 0.
pub struct Network(());

/// What one host sends to another.
pub type Way = (u8, u8);

impl Network {
    /// The network of the test of this name, with so many hosts. There is none where the test has
    /// just run in another process, or may not.
    pub fn of_test(name: &str, hosts: u8) -> Option<Network> {
        if std::env::var_os(INSIDE).is_some() {
            lay(Command::new("sh"), hosts).unwrap_or_else(|error| panic!("{error}"));
            return Some(Network(()));
        }
        let within = |namespaces: &&&[&str]| {
            let mut shell = Command::new("unshare");
            shell.args(**namespaces).args(["--", "sh"]);
            lay(shell, 1)
        };
        let mut refusal = String::new();
        let namespaces = NAMESPACES.iter().find(|namespaces| within(namespaces).map_err(|why| refusal = why).is_ok());
        let Some(namespaces) = namespaces else {
            // No macro, whose words nobody sees of a test that passes.
            let _ = writeln!(stderr(), "SKIPPED: {name} needs network namespaces of Linux: {refusal}");
            return None;
        };
        let test = std::env::current_exe().unwrap();
        let mut run = Command::new("unshare");
        run.args(*namespaces)
            .arg("--")
            .arg(test)
            .args([name, "--exact", "--include-ignored", "--nocapture"])
            .env(INSIDE, "1");
        let run = run.output().unwrap();
        print!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(run.status.success(), "it fails in its network");
        None
    }

    /// The address of a host.
    pub fn address(&self, host: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 7, host, 2)
    }

    /// The router's address on the line to a host.
    pub fn router(&self, host: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 7, host, 1)
    }

    /// This program at a host.
    pub fn program(&self, host: u8) -> Command {
        let mut program = Command::new("nsenter");
        program.arg(format!("--net=/run/netns/host{host}")).arg(std::env::current_exe().unwrap());
        program
    }

    /// From now on nothing arrives on these ways.
    pub fn lose(&self, ways: &[Way]) {
        self.rule("add", ways);
    }

    /// What was lost on these ways arrives again.
    pub fn mend(&self, ways: &[Way]) {
        self.rule("del", ways);
    }

    /// From now on one of so many packets gets lost, on all ways, where that can be had. They are
    /// counted, not drawn: a drawn line now and then loses a handshake's every try.
    pub fn fray(&self, of: u32) -> bool {
        let rules = format!(
            "add table inet frayed
            add chain inet frayed ways {{ type filter hook forward priority 0; }}
            add rule inet frayed ways meta l4proto udp numgen inc mod {of} == 0 drop
            "
        );
        let Ok(mut nft) = Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).spawn() else {
            assert!(std::env::var_os("CI").is_none(), "this test loses packets by nft: apt-get install nftables");
            let _ = writeln!(stderr(), "SKIPPED: there is no nft to lose packets by");
            return false;
        };
        nft.stdin.take().unwrap().write_all(rules.as_bytes()).unwrap();
        assert!(nft.wait().unwrap().success());
        true
    }

    fn rule(&self, what: &str, ways: &[Way]) {
        let rule =
            |(from, to): &Way| format!("rule {what} from {} to {} blackhole\n", self.address(*from), self.address(*to));
        let mut ip = Command::new("ip").args(["-batch", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        ip.stdin.take().unwrap().write_all(ways.iter().map(rule).collect::<String>().as_bytes()).unwrap();
        assert!(ip.wait().unwrap().success());
    }
}

/// All ways between these hosts and those.
pub fn between(some: &[u8], others: &[u8]) -> Vec<Way> {
    let pairs = some.iter().flat_map(|one| others.iter().map(|other| (*one, *other)));
    pairs.filter(|(one, other)| one != other).flat_map(|(one, other)| [(one, other), (other, one)]).collect()
}

/// Lays lines between the router, in whose namespace a shell runs, and its hosts. Fails where any
/// of what tests do later may not be done.
fn lay(mut shell: Command, hosts: u8) -> Result<(), String> {
    const LAY: &str = "
        mount -t tmpfs tmpfs /run
        echo 1 > /proc/sys/net/ipv4/ip_forward
        for host in $(seq 0 $(($0 - 1))); do
            echo netns add host$host
            echo link add line$host type veth peer name line netns host$host
            echo addr add 10.7.$host.1/24 dev line$host
            echo link set line$host up
            echo rule add from 10.7.$host.2 to 10.7.$host.2 blackhole
        done | ip -batch -
        for host in $(seq 0 $(($0 - 1))); do
            ip -n host$host -batch - <<HOST
addr add 10.7.$host.2/24 dev line
link set lo up
link set line up
route add default via 10.7.$host.1
HOST
            nsenter --net=/run/netns/host$host true
        done";
    let run = shell.args(["-ec", LAY, &hosts.to_string()]).output().map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&run.stderr).trim().replace('\n', "; ");
    if run.status.success() { Ok(()) } else { Err(told) }
}
