//! As much of JSON as a description of the C API has. There are no fractions in it.

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// A member of an object; null: it has no such.
    pub fn get(&self, key: &str) -> &Json {
        match self {
            Json::Object(members) => members.iter().find(|(name, _)| name == key).map_or(&Json::Null, |(_, value)| value),
            _ => &Json::Null,
        }
    }
    pub fn text(&self) -> &str {
        match self {
            Json::Text(text) => text,
            _ => "",
        }
    }
    pub fn number(&self) -> Option<i64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }
    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(list) => list,
            _ => &[],
        }
    }
}

pub fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let value = reader.value()?;
    reader.space();
    if reader.at == text.len() {
        Ok(value)
    } else {
        Err(reader.wrong("the end"))
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, wanted: &str) -> String {
        format!("byte {}: {wanted} expected", self.at)
    }
    fn space(&mut self) {
        while self.bytes.get(self.at).map_or(false, u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }
    fn next(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }
    fn take(&mut self, byte: u8) -> bool {
        let is = self.next() == Some(byte);
        self.at += usize::from(is);
        is
    }
    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.wrong(&char::from(byte).to_string()))
        }
    }
    fn word(&mut self, word: &str, value: Json) -> Result<Json, String> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.wrong(word));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.next() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            _ => self.number(),
        }
    }
    fn number(&mut self) -> Result<Json, String> {
        let from = self.at;
        while self.bytes.get(self.at).map_or(false, |byte| byte.is_ascii_digit() || *byte == b'-') {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[from..self.at]).unwrap_or("");
        text.parse().map(Json::Number).map_err(|_| self.wrong("a value"))
    }
    fn list(&mut self) -> Result<Json, String> {
        let mut list = Vec::new();
        self.expect(b'[')?;
        while !self.take(b']') {
            if !list.is_empty() {
                self.expect(b',')?;
            }
            list.push(self.value()?);
        }
        Ok(Json::List(list))
    }
    fn object(&mut self) -> Result<Json, String> {
        let mut members = Vec::new();
        self.expect(b'{')?;
        while !self.take(b'}') {
            if !members.is_empty() {
                self.expect(b',')?;
            }
            self.space();
            let key = self.string()?;
            self.expect(b':')?;
            members.push((key, self.value()?));
        }
        Ok(Json::Object(members))
    }
    fn string(&mut self) -> Result<String, String> {
        let mut bytes = Vec::new();
        self.expect(b'"')?;
        loop {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.wrong("\""))?;
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).map_err(|_| self.wrong("UTF-8")),
                b'\\' => bytes.push(self.escaped()?),
                _ => bytes.push(byte),
            }
        }
    }
    fn escaped(&mut self) -> Result<u8, String> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        match byte {
            Some(b'n') => Ok(b'\n'),
            Some(b't') => Ok(b'\t'),
            Some(byte @ (b'"' | b'\\' | b'/')) => Ok(byte),
            _ => Err(self.wrong("a known escape")),
        }
    }
}
