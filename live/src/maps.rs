// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! What the control socket asks about maps.

use penstock_device::maps::{self, Map, MapError, json};
use penstock_device::{Device, Value};
use serde_json::Value as Json;

use crate::protocol::{MapAbout, Records, Reply, Request, Store};

/// Carries out a request about maps.
pub(crate) fn answer(device: &mut impl Device, request: &Request) -> Result<Reply, String> {
    let told = |error: MapError| error.to_string();
    let mut reply = Reply::default();
    match request {
        Request::MapDump { name } => {
            let map = maps::find(device, name).map_err(told)?;
            if map.has_records() {
                let taken = map.take(device).map_err(told)?;
                reply.records = Some(Records { records: json::records(&taken.records), lost: taken.lost });
            } else {
                reply.entries = Some(json::entries(&map, &map.entries(device).map_err(told)?));
            }
            reply.maps = Some(vec![about(&map)]);
        }
        Request::MapGet { name, key } => {
            let map = maps::find(device, name).map_err(told)?;
            let key = map.key(&value_of(key)?).map_err(told)?;
            let value = map.get(device, &key).map_err(told)?;
            let value = value.ok_or_else(|| told(MapError::NoEntry(map.name.clone())))?;
            reply.entries = Some(json::entries(&map, &[(key, value)]));
            reply.maps = Some(vec![about(&map)]);
        }
        Request::MapSet { name, key, value, store } => {
            let map = maps::find(device, name).map_err(told)?;
            let (key, value) = (map.key(&value_of(key)?).map_err(told)?, map.value(&value_of(value)?).map_err(told)?);
            let store = match store {
                Store::Any => maps::Store::Any,
                Store::NoExist => maps::Store::New,
                Store::Exist => maps::Store::Existing,
            };
            map.set(device, &key, &value, store).map_err(told)?;
        }
        Request::MapDelete { name, key } => {
            let map = maps::find(device, name).map_err(told)?;
            let key = map.key(&value_of(key)?).map_err(told)?;
            map.delete(device, &key).map_err(told)?;
        }
        _ => reply.maps = Some(device.maps().iter().map(about).collect()),
    }
    Ok(reply)
}

/// A key or a value, as a client gives it.
fn value_of(json: &Json) -> Result<Value, String> {
    json::parse(json)
}

fn about(map: &Map) -> MapAbout {
    MapAbout {
        name: map.name.clone(),
        kind: map.kind.to_string(),
        key: map.shape_of_key.to_string(),
        key_bytes: map.shape_of_key.bytes(),
        value: map.shape_of_value.to_string(),
        value_bytes: map.shape_of_value.bytes(),
        max_entries: map.max_entries,
        read_only: map.read_only,
        processors: map.processors.as_ref().map(|processors| (processors.start, processors.end)),
    }
}
