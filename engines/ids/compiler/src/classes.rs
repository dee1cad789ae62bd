// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Classes of rules: the names of `classtype`, with the description and priority for reports.

use std::collections::BTreeMap;

use crate::faults::ConfigFault;

/// The names, descriptions and priorities that public rule sets share (the Snort manual's table of default classes).
const CLASSES: [(&str, &str, u8); 42] = [
    ("not-suspicious", "Not Suspicious Traffic", 3),
    ("unknown", "Unknown Traffic", 3),
    ("bad-unknown", "Potentially Bad Traffic", 2),
    ("attempted-recon", "Attempted Information Leak", 2),
    ("successful-recon-limited", "Information Leak", 2),
    ("successful-recon-largescale", "Large Scale Information Leak", 2),
    ("attempted-dos", "Attempted Denial of Service", 2),
    ("successful-dos", "Denial of Service", 2),
    ("attempted-user", "Attempted User Privilege Gain", 1),
    ("unsuccessful-user", "Unsuccessful User Privilege Gain", 1),
    ("successful-user", "Successful User Privilege Gain", 1),
    ("attempted-admin", "Attempted Administrator Privilege Gain", 1),
    ("successful-admin", "Successful Administrator Privilege Gain", 1),
    ("rpc-portmap-decode", "Decode of an RPC Query", 2),
    ("shellcode-detect", "Executable code was detected", 1),
    ("string-detect", "A suspicious string was detected", 3),
    ("suspicious-filename-detect", "A suspicious filename was detected", 2),
    ("suspicious-login", "An attempted login using a suspicious username was detected", 2),
    ("system-call-detect", "A system call was detected", 2),
    ("tcp-connection", "A TCP connection was detected", 4),
    ("trojan-activity", "A Network Trojan was detected", 1),
    ("unusual-client-port-connection", "A client was using an unusual port", 2),
    ("network-scan", "Detection of a Network Scan", 3),
    ("denial-of-service", "Detection of a Denial of Service Attack", 2),
    ("non-standard-protocol", "Detection of a non-standard protocol or event", 2),
    ("protocol-command-decode", "Generic Protocol Command Decode", 3),
    ("web-application-activity", "access to a potentially vulnerable web application", 2),
    ("web-application-attack", "Web Application Attack", 1),
    ("misc-activity", "Misc activity", 3),
    ("misc-attack", "Misc Attack", 2),
    ("icmp-event", "Generic ICMP event", 3),
    ("inappropriate-content", "Inappropriate Content was Detected", 1),
    ("policy-violation", "Potential Corporate Privacy Violation", 1),
    ("default-login-attempt", "Attempt to login by a default username and password", 2),
    ("targeted-activity", "Targeted Malicious Activity was Detected", 1),
    ("exploit-kit", "Exploit Kit Activity Detected", 1),
    ("external-ip-check", "Device Retrieving External IP Address Detected", 2),
    ("domain-c2", "Domain Observed Used for C2 Detected", 1),
    ("pup-activity", "Possibly Unwanted Program Detected", 2),
    ("credential-theft", "Successful Credential Theft Detected", 1),
    ("social-engineering", "Possible Social Engineering Attempted", 2),
    ("coin-mining", "Crypto Currency Mining Activity Detected", 2),
];

/// Priority of rules without class and priority.
pub(crate) const PRIORITY: u8 = 3;

/// Description and priority of a class; a class without a description keeps its name.
#[must_use]
pub(crate) fn class(name: &str) -> (&str, u8) {
    let known = CLASSES.iter().find(|(known, ..)| *known == name);
    known.map_or((name, PRIORITY), |(_, description, priority)| (description, *priority))
}

/// Classes that a file describes, by name: description and priority.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Classes(BTreeMap<String, (String, u8)>);

impl Classes {
    /// Reads a file with a line `config classification: NAME,DESCRIPTION,PRIORITY` for each class.
    ///
    /// # Errors
    /// A line has another form.
    pub fn read(text: &str) -> Result<Self, ConfigFault> {
        let mut classes = BTreeMap::new();
        for (number, line) in (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parts =
                line.strip_prefix("config").map(str::trim).and_then(|rest| rest.strip_prefix("classification:"));
            let parts: Vec<&str> = parts.unwrap_or_default().split(',').map(str::trim).collect();
            let class = match parts[..] {
                [name, description, priority] if !name.is_empty() => {
                    priority.parse().ok().filter(|priority| *priority > 0).map(|priority| (name, description, priority))
                }
                _ => None,
            };
            let (name, description, priority) = class.ok_or_else(|| {
                ConfigFault::at(number, format!("`{line}`: write config classification: NAME,DESCRIPTION,PRIORITY"))
            })?;
            classes.insert(name.to_owned(), (description.to_owned(), priority));
        }
        Ok(Self(classes))
    }

    /// Description and priority of a class that the file describes.
    #[must_use]
    pub fn class(&self, name: &str) -> Option<(&str, u8)> {
        self.0.get(name).map(|(description, priority)| (description.as_str(), *priority))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_describe_classes() {
        let text = "\u{feff}# classes\r\n\r\nconfig classification: own-class,What we look for,4\r\n\
            config classification:trojan-activity,Another name,2\r\n";
        let classes = Classes::read(text).unwrap();
        assert_eq!(classes.class("own-class"), Some(("What we look for", 4)));
        assert_eq!((classes.class("trojan-activity"), classes.class("unknown")), (Some(("Another name", 2)), None));
        for line in ["config classification: a,b", "config reference: a b", "config classification: a,b,0", "x"] {
            let error = Classes::read(&format!("\n{line}\n")).unwrap_err();
            assert!(error.to_string().starts_with("line 2: "), "{error}");
        }
    }
}
