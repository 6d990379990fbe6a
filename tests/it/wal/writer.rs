//! Writers of segments that share nothing with the readers: the formats as their descriptions have them, checksums bit by bit.

/// CRC-32C as its definition has it.
pub(crate) fn crc32c(mut crc: u32, bytes: &[u8]) -> u32 {
    crc = !crc;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0x82f6_3b78
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

/// A record to write: position and term; the payload is made from them.
pub(crate) type Entry = (u64, u64);

pub(crate) fn payload(lsn: u64) -> Vec<u8> {
    let count = 9 + usize::try_from(lsn % 23).unwrap();
    (0..count)
        .map(|n| u8::try_from((lsn + n as u64) % 251 + 1).unwrap())
        .collect()
}

/// A segment of the reference layout, without a tail.
pub(crate) fn reference(first: u64, log: u64, entries: &[Entry]) -> Vec<u8> {
    let mut bytes = b"CDWALSEG".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    let mut rest = first.to_le_bytes().to_vec();
    rest.extend(log.to_le_bytes());
    let crc = crc32c(crc32c(0, &bytes), &rest);
    bytes.extend(crc.to_le_bytes());
    bytes.extend(rest);
    for &(lsn, term) in entries {
        bytes.extend(reference_record(lsn, term, &payload(lsn)));
    }
    bytes
}

pub(crate) fn reference_record(lsn: u64, term: u64, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(20 + payload.len()).unwrap().to_le_bytes();
    let mut content = lsn.to_le_bytes().to_vec();
    content.extend(term.to_le_bytes());
    content.extend(payload);
    let mut bytes = length.to_vec();
    bytes.extend(crc32c(crc32c(0, &length), &content).to_le_bytes());
    bytes.extend(content);
    while bytes.len() % 8 != 0 {
        bytes.push(0);
    }
    bytes
}

/// Entries of one term.
pub(crate) fn entries(lsns: std::ops::RangeInclusive<u64>, term: u64) -> Vec<Entry> {
    lsns.map(|lsn| (lsn, term)).collect()
}

/// A file of etcd's WAL under way.
pub(crate) struct Etcd {
    pub(crate) bytes: Vec<u8>,
    pub(crate) crc: u32,
}

impl Etcd {
    /// A file that goes on with the checksum of the one before.
    pub(crate) fn file(crc: u32, cluster: u64) -> Self {
        let mut file = Self {
            bytes: Vec::new(),
            crc,
        };
        file.raw(4, crc, None);
        let metadata = [
            &[0x08],
            varint(0xbeef).as_slice(),
            &[0x10],
            varint(cluster).as_slice(),
        ]
        .concat();
        file.record(1, &metadata);
        file
    }

    pub(crate) fn entry(&mut self, lsn: u64, term: u64) {
        let data = payload(lsn);
        let message = [
            &[0x08, 0x00, 0x10],
            varint(term).as_slice(),
            &[0x18],
            varint(lsn).as_slice(),
            &[0x22],
            varint(data.len() as u64).as_slice(),
            &data,
        ]
        .concat();
        self.record(2, &message);
    }

    pub(crate) fn entries(&mut self, entries: &[Entry]) {
        for &(lsn, term) in entries {
            self.entry(lsn, term);
        }
    }

    pub(crate) fn state(&mut self, term: u64, commit: u64) {
        let message = [
            &[0x08],
            varint(term).as_slice(),
            &[0x10, 0x00, 0x18],
            varint(commit).as_slice(),
        ]
        .concat();
        self.record(3, &message);
    }

    pub(crate) fn snapshot(&mut self, lsn: u64, term: u64) {
        let message = [
            &[0x08],
            varint(lsn).as_slice(),
            &[0x10],
            varint(term).as_slice(),
        ]
        .concat();
        self.record(5, &message);
    }

    fn record(&mut self, sort: u64, data: &[u8]) {
        self.crc = crc32c(self.crc, data);
        self.raw(sort, self.crc, Some(data));
    }

    fn raw(&mut self, sort: u64, crc: u32, data: Option<&[u8]>) {
        let mut record = [
            &[0x08],
            varint(sort).as_slice(),
            &[0x10],
            varint(u64::from(crc)).as_slice(),
        ]
        .concat();
        if let Some(data) = data {
            record.push(0x1a);
            record.extend(varint(data.len() as u64));
            record.extend(data);
        }
        let padding = (8 - record.len() % 8) % 8;
        let flags = if padding == 0 {
            0
        } else {
            0x80 | padding as u64
        };
        self.bytes
            .extend((record.len() as u64 | flags << 56).to_le_bytes());
        self.bytes.extend(record);
        self.bytes.extend(vec![0; padding]);
    }
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

/// Adler-32 as its definition has it.
fn adler32(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in bytes {
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    b << 16 | a
}

/// A `ZooKeeper` transaction log without its zero tail.
pub(crate) fn zookeeper(zxids: &[u64]) -> Vec<u8> {
    let mut bytes = b"ZKLG".to_vec();
    bytes.extend(2_u32.to_be_bytes());
    bytes.extend(0_u64.to_be_bytes());
    for &zxid in zxids {
        bytes.extend(zookeeper_record(zxid));
    }
    bytes
}

pub(crate) fn zookeeper_record(zxid: u64) -> Vec<u8> {
    let mut content = 0x0001_0000_dead_beef_u64.to_be_bytes().to_vec();
    content.extend(7_u32.to_be_bytes());
    content.extend(zxid.to_be_bytes());
    content.extend(1_700_000_000_000_u64.to_be_bytes());
    content.extend(5_u32.to_be_bytes());
    content.extend(payload(zxid));
    let mut bytes = u64::from(adler32(&content)).to_be_bytes().to_vec();
    bytes.extend(u32::try_from(content.len()).unwrap().to_be_bytes());
    bytes.extend(content);
    bytes.push(b'B');
    bytes
}

/// SipHash-2-4 with a key of zeros, as its paper has it.
fn siphash(bytes: &[u8]) -> u64 {
    fn round(v: &mut [u64; 4]) {
        v[0] = v[0].wrapping_add(v[1]);
        v[2] = v[2].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(13) ^ v[0];
        v[3] = v[3].rotate_left(16) ^ v[2];
        v[0] = v[0].rotate_left(32);
        v[2] = v[2].wrapping_add(v[1]);
        v[0] = v[0].wrapping_add(v[3]);
        v[1] = v[1].rotate_left(17) ^ v[2];
        v[3] = v[3].rotate_left(21) ^ v[0];
        v[2] = v[2].rotate_left(32);
    }
    let mut v = [
        0x736f_6d65_7073_6575,
        0x646f_7261_6e64_6f6d,
        0x6c79_6765_6e65_7261,
        0x7465_6462_7974_6573,
    ];
    let mut padded = bytes.to_vec();
    while padded.len() % 8 != 7 {
        padded.push(0);
    }
    padded.push(u8::try_from(bytes.len() % 256).unwrap());
    for word in padded.chunks(8) {
        let word = u64::from_le_bytes(word.try_into().unwrap());
        v[3] ^= word;
        round(&mut v);
        round(&mut v);
        v[0] ^= word;
    }
    v[2] ^= 0xff;
    for _ in 0..4 {
        round(&mut v);
    }
    v[0] ^ v[1] ^ v[2] ^ v[3]
}

/// A changelog of `ClickHouse` Keeper.
pub(crate) fn keeper(entries: &[Entry]) -> Vec<u8> {
    entries
        .iter()
        .flat_map(|&(lsn, term)| keeper_record(lsn, term))
        .collect()
}

pub(crate) fn keeper_record(lsn: u64, term: u64) -> Vec<u8> {
    let blob = payload(lsn);
    let mut content = vec![1];
    content.extend(lsn.to_le_bytes());
    content.extend(term.to_le_bytes());
    content.extend(1_u32.to_le_bytes());
    content.extend((blob.len() as u64).to_le_bytes());
    content.extend(blob);
    let mut bytes = siphash(&content).to_le_bytes().to_vec();
    bytes.extend(content);
    bytes
}

/// `HighwayHash` of 64 bits, as its reference has it for one byte after the other.
pub(crate) fn highwayhash(key: &[u8; 32], bytes: &[u8]) -> u64 {
    let mut hash = Highway::new(words(key));
    let mut packets = bytes.chunks_exact(32);
    for packet in packets.by_ref() {
        hash.update(words(packet));
    }
    hash.rest(packets.remainder());
    for _ in 0..4 {
        let v0 = hash.v0.map(|word| word.rotate_left(32));
        hash.update([v0[2], v0[3], v0[0], v0[1]]);
    }
    let last = [hash.v0[0], hash.v1[0], hash.mul0[0], hash.mul1[0]];
    last.into_iter().fold(0, u64::wrapping_add)
}

fn words(bytes: &[u8]) -> [u64; 4] {
    let word = |n: usize| u64::from_le_bytes(bytes[8 * n..8 * n + 8].try_into().unwrap());
    [word(0), word(1), word(2), word(3)]
}

struct Highway {
    v0: [u64; 4],
    v1: [u64; 4],
    mul0: [u64; 4],
    mul1: [u64; 4],
}

impl Highway {
    fn new(key: [u64; 4]) -> Self {
        let mul0 = [
            0xdbe6_d5d5_fe4c_ce2f,
            0xa409_3822_299f_31d0,
            0x1319_8a2e_0370_7344,
            0x243f_6a88_85a3_08d3,
        ];
        let mul1 = [
            0x3bd3_9e10_cb0e_f593,
            0xc0ac_f169_b5f1_8a8c,
            0xbe54_66cf_34e9_0c6c,
            0x4528_21e6_38d0_1377,
        ];
        Self {
            v0: std::array::from_fn(|n| mul0[n] ^ key[n]),
            v1: std::array::from_fn(|n| mul1[n] ^ key[n].rotate_left(32)),
            mul0,
            mul1,
        }
    }

    fn update(&mut self, words: [u64; 4]) {
        for (n, word) in words.into_iter().enumerate() {
            self.v1[n] = self.v1[n].wrapping_add(self.mul0[n]).wrapping_add(word);
            self.mul0[n] ^= (self.v1[n] & 0xffff_ffff).wrapping_mul(self.v0[n] >> 32);
            self.v0[n] = self.v0[n].wrapping_add(self.mul1[n]);
            self.mul1[n] ^= (self.v0[n] & 0xffff_ffff).wrapping_mul(self.v1[n] >> 32);
        }
        for n in [0, 2] {
            let (low, high) = zipper(self.v1[n], self.v1[n + 1]);
            self.v0[n] = self.v0[n].wrapping_add(low);
            self.v0[n + 1] = self.v0[n + 1].wrapping_add(high);
        }
        for n in [0, 2] {
            let (low, high) = zipper(self.v0[n], self.v0[n + 1]);
            self.v1[n] = self.v1[n].wrapping_add(low);
            self.v1[n + 1] = self.v1[n + 1].wrapping_add(high);
        }
    }

    fn rest(&mut self, bytes: &[u8]) {
        let count = bytes.len();
        if count == 0 {
            return;
        }
        for n in 0..4 {
            self.v0[n] = self.v0[n].wrapping_add(((count as u64) << 32) + count as u64);
            let turn = |half: u64| {
                let half = u32::try_from(half & 0xffff_ffff).unwrap();
                u64::from(half.rotate_left(u32::try_from(count).unwrap()))
            };
            self.v1[n] = turn(self.v1[n] >> 32) << 32 | turn(self.v1[n]);
        }
        let (whole, odd) = (count & !3, count & 3);
        let mut packet = [0; 32];
        packet[..whole].copy_from_slice(&bytes[..whole]);
        if count & 16 > 0 {
            packet[28..].copy_from_slice(&bytes[count - 4..]);
        } else if odd > 0 {
            packet[16] = bytes[whole];
            packet[17] = bytes[whole + (odd >> 1)];
            packet[18] = bytes[count - 1];
        }
        self.update(words(&packet));
    }
}

/// The bytes of two words in the order in which the hash mixes them.
fn zipper(low: u64, high: u64) -> (u64, u64) {
    let bytes = [low.to_le_bytes(), high.to_le_bytes()].concat();
    let pick = |places: [usize; 8]| u64::from_le_bytes(places.map(|place| bytes[place]));
    (
        pick([3, 12, 2, 5, 14, 1, 15, 0]),
        pick([11, 4, 10, 13, 9, 6, 8, 7]),
    )
}

#[test]
fn the_writers_checksums_have_their_published_values() {
    assert_eq!(crc32c(0, b"123456789"), 0xe306_9283);
    assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    // The paper's vector has the key 00..0f; with a key of zeros the empty input gives this.
    assert_eq!(siphash(b""), 0x1e92_4b9d_7377_00d7);
    // The reference's vectors have the key 00..1f and the inputs 00, 00 01, 00 01 02 and so on.
    let bytes: [u8; 32] = std::array::from_fn(|n| u8::try_from(n).unwrap());
    assert_eq!(highwayhash(&bytes, b""), 0x907a_56de_22c2_6e53);
    assert_eq!(highwayhash(&bytes, &[0]), 0x7eab_43aa_c7cd_dd78);
}
