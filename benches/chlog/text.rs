//! Random numbers, text written byte by byte, and the tables and parts that records speak of.

pub(super) struct Rng(u64, u64);
impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        let mut r = Rng(
            seed ^ 0x9E37_79B9_7F4A_7C15,
            seed.wrapping_mul(0xD134_2543_DE82_EF95) | 1,
        );
        for _ in 0..8 {
            r.next();
        }
        r
    }
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        // xoroshiro128+
        let (s0, mut s1) = (self.0, self.1);
        let out = s0.wrapping_add(s1);
        s1 ^= s0;
        self.0 = s0.rotate_left(24) ^ s1 ^ (s1 << 16);
        self.1 = s1.rotate_left(37);
        out
    }
    #[inline]
    pub(super) fn below(&mut self, n: u64) -> u64 {
        (((self.next() >> 32) * n) >> 32).min(n - 1)
    }
    #[inline]
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// skewed index: small ones far more often
    #[inline]
    pub(super) fn skew(&mut self, n: u64) -> u64 {
        let u = self.unit();
        ((u * u * u) * n as f64) as u64
    }
}

#[inline]
pub(super) fn num(b: &mut Vec<u8>, n: u64) {
    let mut t = [0u8; 20];
    let mut i = 20;
    let mut n = n;
    loop {
        i -= 1;
        t[i] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    b.extend_from_slice(&t[i..]);
}
#[inline]
pub(super) fn pad(b: &mut Vec<u8>, n: u64, width: usize) {
    let mut t = [b'0'; 20];
    let mut n = n;
    for i in (0..width).rev() {
        t[i] = b'0' + (n % 10) as u8;
        n /= 10;
    }
    b.extend_from_slice(&t[..width]);
}
pub(super) const HEX: &[u8; 16] = b"0123456789abcdef";
pub(super) fn hex(b: &mut Vec<u8>, n: u64, width: usize) {
    for i in (0..width).rev() {
        b.push(HEX[((n >> (4 * i)) & 15) as usize]);
    }
}
pub(super) fn uuid(b: &mut Vec<u8>, hi: u64, lo: u64) {
    hex(b, hi >> 32, 8);
    b.push(b'-');
    hex(b, hi >> 16 & 0xffff, 4);
    b.extend_from_slice(b"-4");
    hex(b, hi & 0xfff, 3);
    b.push(b'-');
    hex(b, (lo >> 48 & 0x3fff) | 0x8000, 4);
    b.push(b'-');
    hex(b, lo & 0xffff_ffff_ffff, 12);
}
pub(super) fn uuid_string(r: &mut Rng) -> String {
    let mut v = Vec::new();
    uuid(&mut v, r.next(), r.next());
    String::from_utf8(v).unwrap()
}
pub(super) fn readable(b: &mut Vec<u8>, r: &mut Rng) {
    num(b, r.below(900) + 1);
    b.push(b'.');
    pad(b, r.below(100), 2);
    b.extend_from_slice([&b" B"[..], b" KiB", b" MiB", b" GiB"][r.skew(4) as usize % 4]);
}
macro_rules! put { ($b:expr, $($x:expr),* $(,)?) => {{ $( $x.put($b); )* }} }
pub(super) trait Put {
    fn put(&self, b: &mut Vec<u8>);
}
impl Put for str {
    #[inline]
    fn put(&self, b: &mut Vec<u8>) {
        b.extend_from_slice(self.as_bytes())
    }
}
impl Put for &str {
    #[inline]
    fn put(&self, b: &mut Vec<u8>) {
        b.extend_from_slice(self.as_bytes())
    }
}
impl Put for String {
    #[inline]
    fn put(&self, b: &mut Vec<u8>) {
        b.extend_from_slice(self.as_bytes())
    }
}
impl Put for u64 {
    #[inline]
    fn put(&self, b: &mut Vec<u8>) {
        num(b, *self)
    }
}

pub(super) struct Table {
    /// As in `default.destination_1a2b3c4d_...`.
    pub(super) name: String,
    pub(super) uuid: String,
    pub(super) parts: Vec<String>,
}
pub(super) struct World {
    pub(super) tables: Vec<Table>,
    /// The UUID of the shared pool.
    pub(super) pool: String,
}
pub(super) fn world(seed: u64, tables: usize) -> World {
    let mut r = Rng::new(seed ^ 0xA11CE);
    let mut out = Vec::new();
    for i in 0..tables {
        let mut v = Vec::new();
        let kind = ["destination_", "source_", "partitioned_", "alter_rbac_"][if i % 5 == 4 {
            1 + r.below(3) as usize
        } else {
            0
        }];
        put!(&mut v, "default.", kind);
        hex(&mut v, r.next(), 8);
        put!(&mut v, "_a64b_11f1_acc8_92000910a29a");
        let mut parts = Vec::new();
        for _ in 0..60 {
            let mut p = Vec::new();
            match i % 3 {
                0 => {
                    put!(&mut p, r.below(13), "-", r.below(13));
                }
                1 => put!(&mut p, 20260801 + r.below(28)),
                _ => put!(&mut p, r.below(40)),
            }
            let lo = r.below(400);
            let lvl = r.skew(4);
            put!(&mut p, "_", lo, "_", lo + lvl * r.below(9), "_", lvl);
            parts.push(String::from_utf8(p).unwrap());
        }
        out.push(Table {
            name: String::from_utf8(v).unwrap(),
            uuid: uuid_string(&mut r),
            parts,
        });
    }
    World {
        tables: out,
        pool: uuid_string(&mut r),
    }
}

pub(super) use put;
