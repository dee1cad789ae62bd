// Written by `penstock compile l7 kv.l7 --bindings rust`; change kv.l7.
//! Message types of kv.l7.

use penstock_qnp::{Error, Message};

/// Number of this application.
pub const APPLICATION_KV: u8 = 1;
/// Its UDP port.
pub const PORT_KV: u16 = 7000;

/// Messages of type 1.
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Put {
    /// Field 1, by which cards dispatch.
    pub key: Option<Vec<u8>>,
    /// Field 2.
    pub sender: Option<u32>,
    /// Field 3.
    pub number: Option<u32>,
    /// Field 4.
    pub value: Option<Vec<u8>>,
}

impl Put {
    /// Number of this type.
    pub const TYPE: u8 = 1;

    /// The message, for this application.
    #[must_use]
    pub fn encode(self, application: u8) -> Message {
        let mut message = Message::new(application, Self::TYPE);
        if let Some(value) = self.key {
            message = message.dispatch(1, value);
        }
        if let Some(value) = self.sender {
            message = message.field(2, value.to_be_bytes());
        }
        if let Some(value) = self.number {
            message = message.field(3, value.to_be_bytes());
        }
        if let Some(value) = self.value {
            message = message.field(4, value);
        }
        message
    }

    /// Reads the fields of a message.
    ///
    /// # Errors
    /// The message is of another type, or a field is no value of its kind.
    pub fn decode(message: &Message) -> Result<Self, Error> {
        message.expect_type(Self::TYPE)?;
        Ok(Self {
            key: message.get(1).map(<[u8]>::to_vec),
            sender: message.uint32(2)?,
            number: message.uint32(3)?,
            value: message.get(4).map(<[u8]>::to_vec),
        })
    }
}

/// Messages of type 2.
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Get {
    /// Field 1, by which cards dispatch.
    pub key: Option<Vec<u8>>,
}

impl Get {
    /// Number of this type.
    pub const TYPE: u8 = 2;

    /// The message, for this application.
    #[must_use]
    pub fn encode(self, application: u8) -> Message {
        let mut message = Message::new(application, Self::TYPE);
        if let Some(value) = self.key {
            message = message.dispatch(1, value);
        }
        message
    }

    /// Reads the fields of a message.
    ///
    /// # Errors
    /// The message is of another type, or a field is no value of its kind.
    pub fn decode(message: &Message) -> Result<Self, Error> {
        message.expect_type(Self::TYPE)?;
        Ok(Self {
            key: message.get(1).map(<[u8]>::to_vec),
        })
    }
}

/// Messages of type 3.
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// Field 4.
    pub value: Option<Vec<u8>>,
}

impl Reply {
    /// Number of this type.
    pub const TYPE: u8 = 3;

    /// The message, for this application.
    #[must_use]
    pub fn encode(self, application: u8) -> Message {
        let mut message = Message::new(application, Self::TYPE);
        if let Some(value) = self.value {
            message = message.field(4, value);
        }
        message
    }

    /// Reads the fields of a message.
    ///
    /// # Errors
    /// The message is of another type, or a field is no value of its kind.
    pub fn decode(message: &Message) -> Result<Self, Error> {
        message.expect_type(Self::TYPE)?;
        Ok(Self {
            value: message.get(4).map(<[u8]>::to_vec),
        })
    }
}
