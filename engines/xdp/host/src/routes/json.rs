// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Routes as JSON.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use penstock_engine::files::{self, FileError};
use penstock_xdp_soft::{Interface, Neighbour, Route, RouteKind, Routes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The way out in messages about a file that cannot be read.
const ROUTES: &str = "give a JSON file of routes, {\"interfaces\": {...}, \"routes\": [...], \"neighbours\": [...]}";
/// MTU of an interface without one.
const MTU: u32 = 1500;

/// A file of routes that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RoutesFileError {
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It holds no routes.
    #[error("{}: {source}; {ROUTES}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// Reads a file of routes.
///
/// # Errors
/// It cannot be read, or holds no routes.
pub fn of_file(path: &Path) -> Result<Routes, RoutesFileError> {
    let text = files::read(path, ROUTES)?;
    parse(&text).map_err(|source| RoutesFileError::Json { path: path.to_owned(), source })
}

/// Reads routes.
///
/// # Errors
/// The text is no JSON, or has an unknown key or a wrong value.
pub fn parse(text: &str) -> Result<Routes, serde_json::Error> {
    let Table { interfaces, routes, neighbours } = serde_json::from_str(text)?;
    let interface = |(ifindex, of): (u32, InterfaceOf)| {
        (ifindex, Interface { mac: of.mac.0, mtu: of.mtu.unwrap_or(MTU), forwards: of.forwards.unwrap_or(true) })
    };
    let neighbour = |of: NeighbourOf| (Neighbour { ifindex: of.dev, address: of.dst }, of.lladdr.0);
    Ok(Routes {
        routes: routes.into_iter().map(RouteOf::route).collect(),
        neighbours: neighbours.into_iter().map(neighbour).collect(),
        interfaces: interfaces.into_iter().map(interface).collect(),
    })
}

/// Routes as [`parse`] reads them, without keys that have their default.
pub fn print(routes: &Routes) -> Value {
    let interface = |(ifindex, of): (&u32, &Interface)| {
        (*ifindex, InterfaceOf { mac: Mac(of.mac), mtu: Some(of.mtu), forwards: Some(of.forwards) })
    };
    let mut neighbours: Vec<_> = routes.neighbours.iter().collect();
    neighbours.sort_by_key(|(neighbour, _)| (neighbour.ifindex, neighbour.address));
    let neighbour =
        |(of, mac): (&Neighbour, &[u8; 6])| NeighbourOf { dst: of.address, dev: of.ifindex, lladdr: Mac(*mac) };
    let table = Table {
        interfaces: routes.interfaces.iter().map(interface).collect(),
        routes: routes.routes.iter().map(RouteOf::of).collect(),
        neighbours: neighbours.into_iter().map(neighbour).collect(),
    };
    // This cannot fail: all keys are text and numbers.
    serde_json::to_value(table).unwrap_or_default()
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    interfaces: BTreeMap<u32, InterfaceOf>,
    #[serde(default)]
    routes: Vec<RouteOf>,
    #[serde(default)]
    neighbours: Vec<NeighbourOf>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct InterfaceOf {
    mac: Mac,
    mtu: Option<u32>,
    forwards: Option<bool>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct RouteOf {
    dst: Dst,
    #[serde(skip_serializing_if = "Option::is_none")]
    gateway: Option<IpAddr>,
    #[serde(default, skip_serializing_if = "is_default")]
    dev: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    metric: u32,
    #[serde(rename = "type", default, skip_serializing_if = "is_default")]
    kind: KindOf,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct NeighbourOf {
    dst: IpAddr,
    dev: u32,
    lladdr: Mac,
}

#[derive(Deserialize, Serialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum KindOf {
    #[default]
    Unicast,
    Local,
    Blackhole,
    Unreachable,
    Prohibit,
}

impl RouteOf {
    fn route(self) -> Route {
        let RouteOf { dst, gateway, dev: ifindex, metric, kind } = self;
        let (prefix, bits) = match (dst, gateway) {
            (Dst::Prefix(prefix, bits), _) => (prefix, bits),
            (Dst::Default, Some(IpAddr::V6(_))) => (Ipv6Addr::UNSPECIFIED.into(), 0),
            (Dst::Default, _) => (Ipv4Addr::UNSPECIFIED.into(), 0),
        };
        let kind = match kind {
            KindOf::Unicast => RouteKind::Unicast,
            KindOf::Local => RouteKind::Local,
            KindOf::Blackhole => RouteKind::Blackhole,
            KindOf::Unreachable => RouteKind::Unreachable,
            KindOf::Prohibit => RouteKind::Prohibit,
        };
        Route { prefix, bits, kind, ifindex, gateway, metric }
    }

    fn of(route: &Route) -> Self {
        let kind = match route.kind {
            RouteKind::Unicast => KindOf::Unicast,
            RouteKind::Local => KindOf::Local,
            RouteKind::Blackhole => KindOf::Blackhole,
            RouteKind::Unreachable => KindOf::Unreachable,
            RouteKind::Prohibit => KindOf::Prohibit,
        };
        let Route { prefix, bits, ifindex: dev, gateway, metric, .. } = *route;
        Self { dst: Dst::Prefix(prefix, bits), gateway, dev, metric, kind }
    }
}

/// A destination.
#[derive(Deserialize, Serialize, Clone, Copy)]
#[serde(try_from = "String", into = "String")]
enum Dst {
    /// All addresses: of IPv6 if the gateway is one, else of IPv4.
    Default,
    Prefix(IpAddr, u8),
}

/// Text that is no destination.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no destination: write a prefix (10.0.0.0/8), an address, or default")]
struct NoDst(String);

impl TryFrom<String> for Dst {
    type Error = NoDst;

    fn try_from(text: String) -> Result<Self, NoDst> {
        if text == "default" {
            return Ok(Self::Default);
        }
        let wrong = || NoDst(text.clone());
        let (address, bits) =
            text.split_once('/').map_or((text.as_str(), None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let bits = bits.map_or(Ok(super::width(address)), |bits| bits.parse().map_err(|_| wrong()))?;
        Ok(Self::Prefix(address, bits))
    }
}

impl From<Dst> for String {
    fn from(dst: Dst) -> Self {
        match dst {
            Dst::Default => "default".into(),
            Dst::Prefix(address, bits) => format!("{address}/{bits}"),
        }
    }
}

/// A MAC address.
#[derive(Deserialize, Serialize, Clone, Copy)]
#[serde(try_from = "String", into = "String")]
struct Mac([u8; 6]);

impl From<Mac> for String {
    fn from(Mac(mac): Mac) -> Self {
        mac.map(|byte| format!("{byte:02x}")).join(":")
    }
}

/// Text that is no MAC.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no MAC: write 02:00:00:00:00:01")]
struct NoMac(String);

impl TryFrom<String> for Mac {
    type Error = NoMac;

    fn try_from(text: String) -> Result<Self, NoMac> {
        // from_str_radix() would also accept a sign.
        let is_byte = |byte: &str| byte.len() == 2 && byte.bytes().all(|digit| digit.is_ascii_hexdigit());
        let bytes: Option<Vec<u8>> =
            text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok().filter(|_| is_byte(byte))).collect();
        let mac = bytes.and_then(|bytes| bytes.try_into().ok());
        mac.map(Self).ok_or(NoMac(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_read() {
        let text = r#"{
            "interfaces": {"1": {"mac": "02:00:00:00:00:0a"},
                           "2": {"mac": "02:00:00:00:00:02", "mtu": 9000, "forwards": false}},
            "routes": [{"dst": "default", "gateway": "192.0.2.1", "dev": 2, "metric": 7},
                       {"dst": "default", "gateway": "fe80::1", "dev": 1},
                       {"dst": "10.0.0.0/8", "type": "prohibit"}, {"dst": "2001:db8::1", "dev": 1}],
            "neighbours": [{"dst": "192.0.2.1", "dev": 2, "lladdr": "02:00:00:00:00:ff"}]
        }"#;
        let routes = parse(text).unwrap();
        assert_eq!(routes.interfaces[&1], Interface { mac: [2, 0, 0, 0, 0, 10], mtu: 1500, forwards: true });
        assert_eq!(routes.interfaces[&2], Interface { mac: [2, 0, 0, 0, 0, 2], mtu: 9000, forwards: false });
        let told =
            |route: &Route| (format!("{}/{}", route.prefix, route.bits), route.kind, route.ifindex, route.metric);
        assert_eq!(
            routes.routes.iter().map(told).collect::<Vec<_>>(),
            [
                ("0.0.0.0/0".into(), RouteKind::Unicast, 2, 7),
                ("::/0".into(), RouteKind::Unicast, 1, 0),
                ("10.0.0.0/8".into(), RouteKind::Prohibit, 0, 0),
                ("2001:db8::1/128".into(), RouteKind::Unicast, 1, 0),
            ]
        );
        let again = print(&routes);
        assert_eq!(print(&parse(&again.to_string()).unwrap()), again, "nothing is left out");
        assert_eq!(
            again["routes"],
            serde_json::json!([{"dst": "0.0.0.0/0", "gateway": "192.0.2.1", "dev": 2, "metric": 7},
                {"dst": "::/0", "gateway": "fe80::1", "dev": 1}, {"dst": "10.0.0.0/8", "type": "prohibit"},
                {"dst": "2001:db8::1/128", "dev": 1}])
        );
        let two = serde_json::json!({"mac": "02:00:00:00:00:02", "mtu": 9000, "forwards": false});
        assert_eq!((&again["interfaces"]["2"], again["neighbours"].as_array().unwrap().len()), (&two, 1));
        let near = Neighbour { ifindex: 2, address: "192.0.2.1".parse().unwrap() };
        assert_eq!(routes.neighbours[&near], [2, 0, 0, 0, 0, 255]);
        for (wrong, told) in [
            (r#"{"routes": [{"dst": "10.0.0/8"}]}"#, "`10.0.0/8` is no destination"),
            (r#"{"routes": [{"dst": "10.0.0.0/256"}]}"#, "is no destination"),
            (r#"{"routes": [{"dst": "10.0.0.0/8", "via": "10.0.0.1"}]}"#, "unknown field `via`"),
            (r#"{"interfaces": {"1": {"mac": "02:00:00:00:00"}}}"#, "`02:00:00:00:00` is no MAC"),
            (r#"{"interfaces": {"1": {"mac": "02:00:00:00:00:+1"}}}"#, "is no MAC"),
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
