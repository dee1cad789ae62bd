// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! The JSON Schema of manifests, from the types that read them: editors complete and check designs with it.

use penstock_engine::{Kind, Schemas};
use penstock_registry::engines;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value as Json, json};

use crate::design::{Card, Dispatch, InlineBlock, TenantOf, Units};

/// The schema of a design, in draft 7 of JSON Schema, which most editors know.
#[must_use]
pub fn schema() -> Json {
    let mut generator = SchemaSettings::draft07().into_generator();
    let engines: Vec<(&str, Kind, Schemas)> =
        engines().iter().map(|engine| (engine.name(), engine.kind(), engine.schemas(&mut generator))).collect();
    let of_card = engines.iter().map(|(name, _, schemas)| (*name, schemas.card.clone().to_value())).collect();
    let of_kind = |kind: Kind| -> Vec<(&str, Json)> {
        let own = engines.iter().filter(|(_, other, _)| *other == kind);
        own.map(|(name, _, schemas)| (*name, schemas.part.clone().to_value())).collect()
    };
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A design of Penstock",
        "type": "object",
        "required": ["card", "units"],
        "additionalProperties": false,
        "properties": {
            "card": with_tables(table::<Card>(&mut generator), of_card),
            "dispatch": table::<Dispatch>(&mut generator),
            "tenants": list(table::<TenantOf>(&mut generator)),
            "inline": list(part(table::<InlineBlock>(&mut generator), of_kind(Kind::Inline))),
            "units": list(part(table::<Units>(&mut generator), of_kind(Kind::Units))),
        },
    });
    if let Some(units) = schema.pointer_mut("/properties/units") {
        units["minItems"] = 1.into();
    }
    schema["definitions"] = generator.take_definitions(true).into();
    without_null(&mut schema);
    schema
}

/// The schema of a table.
fn table<T: JsonSchema>(generator: &mut SchemaGenerator) -> Json {
    T::json_schema(generator).to_value()
}

/// An array of tables.
fn list(table: Json) -> Json {
    json!({"type": "array", "items": table})
}

/// A table with the tables of engines in it.
fn with_tables(mut table: Json, engines: Vec<(&str, Json)>) -> Json {
    for (name, schema) in engines {
        table["properties"][name] = schema;
    }
    table
}

/// A group of units or an inline block: it may only have the table of its own engine.
fn part(mut table: Json, engines: Vec<(&str, Json)>) -> Json {
    let names: Vec<&str> = engines.iter().map(|(name, _)| *name).collect();
    let own = |name: &&str| ((*name).to_owned(), json!({"properties": {"engine": {"const": name}}}));
    table["dependencies"] = names.iter().map(own).collect::<Map<_, _>>().into();
    table["properties"]["engine"]["enum"] = names.into();
    with_tables(table, engines)
}

/// TOML has no null: a key that may be left out has the type of its value.
fn without_null(schema: &mut Json) {
    match schema {
        Json::Object(fields) => {
            if let Some(Json::Array(types)) = fields.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = &types[..] {
                    let only = only.clone();
                    fields.insert("type".to_owned(), only);
                }
            }
            fields.values_mut().for_each(without_null);
        }
        Json::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}
