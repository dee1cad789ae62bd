// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Words that rules and sessions are made of.

use penstock_bench::five_tuple::Random;

/// Syllables of names that somebody made up: hosts, files, parameters.
const SYLLABLES: [&str; 64] = [
    "ba", "be", "bo", "ca", "ce", "co", "cu", "da", "de", "di", "do", "fa", "fi", "fo", "ga", "go", "gu", "ha", "he",
    "ho", "in", "ja", "ka", "ki", "ko", "la", "le", "li", "lo", "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "on",
    "pa", "pe", "pi", "po", "qu", "ra", "re", "ri", "ro", "sa", "se", "si", "so", "ta", "te", "ti", "to", "va", "ve",
    "vi", "wa", "xa", "xe", "ya", "za", "zo",
];

/// Words of paths and of text, in rules and in sessions alike.
const WORDS: [&str; 96] = [
    "about",
    "account",
    "action",
    "admin",
    "ajax",
    "album",
    "api",
    "archive",
    "article",
    "assets",
    "auth",
    "banner",
    "blog",
    "book",
    "cache",
    "cart",
    "category",
    "check",
    "client",
    "comment",
    "common",
    "config",
    "contact",
    "content",
    "css",
    "data",
    "default",
    "detail",
    "download",
    "edit",
    "email",
    "error",
    "event",
    "export",
    "feed",
    "file",
    "font",
    "form",
    "forum",
    "gallery",
    "group",
    "help",
    "home",
    "icon",
    "image",
    "include",
    "index",
    "info",
    "item",
    "js",
    "jquery",
    "language",
    "library",
    "link",
    "list",
    "login",
    "main",
    "media",
    "member",
    "menu",
    "message",
    "mobile",
    "module",
    "new",
    "news",
    "online",
    "order",
    "page",
    "photo",
    "plugin",
    "post",
    "price",
    "product",
    "profile",
    "public",
    "query",
    "report",
    "search",
    "secure",
    "server",
    "service",
    "session",
    "setup",
    "shop",
    "site",
    "static",
    "store",
    "style",
    "system",
    "theme",
    "token",
    "update",
    "upload",
    "user",
    "video",
    "wp-content",
];

/// Ends of names in the DNS.
const TOP: [&str; 12] = ["com", "com", "com", "net", "org", "info", "ru", "cn", "de", "io", "xyz", "top"];

/// One of a list.
pub(crate) fn pick<'a, T>(random: &mut Random, list: &'a [T]) -> &'a T {
    &list[random.below(list.len() as u64) as usize]
}

/// Whether something happens that happens so many times in a thousand.
pub(crate) fn chance(random: &mut Random, in_a_thousand: u64) -> bool {
    random.below(1000) < in_a_thousand
}

/// A word that nobody else is likely to use.
pub(crate) fn made_up(random: &mut Random) -> String {
    (0..2 + random.below(3)).map(|_| *pick(random, &SYLLABLES)).collect()
}

/// A word of the web.
pub(crate) fn word(random: &mut Random) -> &'static str {
    pick::<&'static str>(random, &WORDS)
}

/// The name of a host.
pub(crate) fn host(random: &mut Random) -> String {
    let name = format!("{}{}", made_up(random), made_up(random));
    match random.below(4) {
        0 => format!("{}.{name}.{}", made_up(random), pick(random, &TOP)),
        1 => format!("{name}-{}.{}", made_up(random), pick(random, &TOP)),
        _ => format!("{name}.{}", pick(random, &TOP)),
    }
}

/// Digits in base 16.
pub(crate) fn hex(random: &mut Random, digits: usize) -> String {
    (0..digits).map(|_| char::from(*pick(random, b"0123456789abcdef"))).collect()
}

/// Bytes without any order.
pub(crate) fn noise(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length.div_ceil(8)).flat_map(|_| random.next().to_le_bytes()).take(length).collect()
}
