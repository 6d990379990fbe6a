//! Lanes of bars over time axes or others, drawn by plotters as SVG. No font is measured: the reader's own draws the text.

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Fault = Box<dyn std::error::Error>;

pub(super) const WIDTH: u32 = 1_100;
const LANE_HEIGHT: u32 = 26;
const TITLE_HEIGHT: u32 = 44;
const PANEL_HEADING: u32 = 30;
const AXIS_HEIGHT: u32 = 26;
const FOOT_HEIGHT: u32 = 30;
const LABEL_WIDTH: u32 = 300;
const LABEL_CHARS: usize = 44;

/// The parts that a lane is divided into.
const LANE: i64 = 1_000;

pub(super) const PAPER: RGBColor = RGBColor(0xff, 0xff, 0xff);
pub(super) const INK: RGBColor = RGBColor(0x17, 0x20, 0x2b);
pub(super) const DIM: RGBColor = RGBColor(0x56, 0x62, 0x70);
pub(super) const LINE: RGBColor = RGBColor(0xdd, 0xe2, 0xe8);

/// What a lane is colored by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hue {
    /// Counted by a finding of high severity or worse, or bad news.
    High,
    /// Counted by a finding of medium severity.
    Medium,
    /// Counted by a lesser finding.
    Low,
    /// Good news.
    Good,
    /// Counted by no finding.
    Neutral,
}

impl Hue {
    pub(super) fn rgb(self) -> RGBColor {
        match self {
            Self::High => RGBColor(0xbf, 0x34, 0x13),
            Self::Medium => RGBColor(0x8f, 0x60, 0x00),
            Self::Low => RGBColor(0x22, 0x68, 0x9c),
            Self::Good => RGBColor(0x18, 0x7a, 0x49),
            Self::Neutral => RGBColor(0x5d, 0x70, 0x89),
        }
    }
}

/// A drawn picture with the colors for dark surroundings.
pub(super) fn with_style(mut svg: String) -> Option<String> {
    let inside = svg.find("<svg").and_then(|at| {
        let rest = svg.get(at..)?;
        Some(at + rest.find('>')? + 1)
    })?;
    svg.insert_str(inside, DARK);
    Some(svg)
}

/// The same colors where the reader's surroundings are dark.
pub(super) const DARK: &str = "<style>@media (prefers-color-scheme: dark){\
[fill=\"#FFFFFF\"]{fill:#161B22}\
[fill=\"#17202B\"]{fill:#DFE5ED}\
[fill=\"#566270\"]{fill:#98A4B3}\
[stroke=\"#DDE2E8\"]{stroke:#2B333E}\
[stroke=\"#17202B\"]{stroke:#DFE5ED}\
[fill=\"#BF3413\"]{fill:#FF8A66}\
[fill=\"#8F6000\"]{fill:#E8B64A}\
[fill=\"#22689C\"]{fill:#79B8EC}\
[fill=\"#187A49\"]{fill:#57C98D}\
[fill=\"#5D7089\"]{fill:#8FA3BD}\
[fill=\"#DDE2E8\"]{fill:#2B333E}\
[stroke=\"#BF3413\"]{stroke:#FF8A66}\
[stroke=\"#8F6000\"]{stroke:#E8B64A}\
[stroke=\"#22689C\"]{stroke:#79B8EC}\
[stroke=\"#187A49\"]{stroke:#57C98D}\
}</style>";

/// A count over a stretch of the axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bar {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) count: u64,
}

/// A row of bars.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) label: String,
    pub(super) color: Hue,
    /// The highest count, which fills the lane.
    pub(super) most: u64,
    pub(super) bars: Vec<Bar>,
}

/// Lanes under a heading.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    pub(super) scale: Scale,
    pub(super) lanes: Vec<Lane>,
    /// Moments in thousandths of the axis' unit, with their names.
    pub(super) marks: Vec<(i64, &'static str)>,
}

/// What all panels share.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) title: String,
    /// What the axes measure.
    pub(super) below: String,
}

/// What an axis spans, with its ticks.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) ticks: Vec<(i64, String)>,
}

impl Chart {
    /// The picture; none where there is no lane.
    pub(super) fn draw(&self, panels: &[Panel]) -> Option<String> {
        if panels.iter().all(|it| it.lanes.is_empty()) {
            return None;
        }
        let heights: Vec<u32> = panels.iter().map(height).collect();
        let whole = TITLE_HEIGHT + heights.iter().sum::<u32>() + FOOT_HEIGHT;
        let mut svg = String::new();
        let drawn = self.draw_into(&mut svg, whole, panels, &heights);
        debug_assert!(
            drawn.is_ok(),
            "drawing into a String cannot fail: {drawn:?}"
        );
        drawn.ok()?;
        with_style(svg)
    }

    fn draw_into(
        &self,
        svg: &mut String,
        whole: u32,
        panels: &[Panel],
        heights: &[u32],
    ) -> Result<(), Fault> {
        let root = SVGBackend::with_string(svg, (WIDTH, whole)).into_drawing_area();
        root.fill(&PAPER)?;
        root.draw(&Text::new(
            self.title.clone(),
            (16, 14),
            ("sans-serif", 18).into_font().color(&INK),
        ))?;
        let mut rest = root.split_vertically(TITLE_HEIGHT).1;
        for (panel, height) in panels.iter().zip(heights) {
            let (area, below) = rest.split_vertically(*height);
            Self::panel(&area, panel)?;
            rest = below;
        }
        rest.draw(&Text::new(
            self.below.clone(),
            (16, 8),
            ("sans-serif", 12).into_font().color(&DIM),
        ))?;
        root.present()?;
        Ok(())
    }

    fn panel(area: &Area<'_>, panel: &Panel) -> Result<(), Fault> {
        area.draw(&Text::new(
            panel.title.clone(),
            (16, 8),
            ("sans-serif", 14).into_font().color(&INK),
        ))?;
        let lanes = i32::try_from(panel.lanes.len())?;
        let scale = &panel.scale;
        let ticks: Vec<i64> = scale.ticks.iter().map(|(at, _)| *at).collect();
        // Lanes are counted from below; the name of each stands at its middle.
        let middles: Vec<i64> = (0..lanes)
            .map(|it| i64::from(it) * LANE + LANE / 2)
            .collect();
        let below = area.split_vertically(PANEL_HEADING).1;
        let mut chart = ChartBuilder::on(&below)
            .margin_right(28)
            .x_label_area_size(AXIS_HEIGHT)
            .y_label_area_size(LABEL_WIDTH)
            .build_cartesian_2d(
                Labelled {
                    from: scale.from,
                    to: scale.to,
                    points: ticks,
                },
                Labelled {
                    from: 0,
                    to: i64::from(lanes) * LANE + if panel.marks.is_empty() { 0 } else { LANE },
                    points: middles,
                },
            )?;
        let name = |middle: &i64| {
            let from_below = usize::try_from(middle / LANE).ok();
            let lane = from_below.and_then(|it| panel.lanes.iter().rev().nth(it));
            lane.map_or_else(String::new, |it| shortened(&it.label))
        };
        let time = |at: &i64| {
            let tick = scale.ticks.iter().find(|(tick, _)| tick == at);
            tick.map_or_else(String::new, |(_, label)| label.clone())
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(LINE)
            .x_labels(scale.ticks.len())
            .y_labels(panel.lanes.len())
            .x_label_formatter(&time)
            .y_label_formatter(&name)
            .label_style(("sans-serif", 12).into_font().color(&DIM))
            .draw()?;
        for (from_below, lane) in (0..lanes).zip(panel.lanes.iter().rev()) {
            let floor = i64::from(from_below) * LANE + LANE / 20;
            chart.draw_series(lane.bars.iter().map(|bar| {
                let top = floor + height_of(bar.count, lane.most);
                Rectangle::new(
                    [(bar.from, floor), (bar.to, top)],
                    lane.color.rgb().filled(),
                )
            }))?;
        }
        Self::marks(&mut chart, panel)
    }

    /// The names of marks stand above the lanes, as far as there is room for one beside the other.
    fn marks(
        chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<Labelled, Labelled>>,
        panel: &Panel,
    ) -> Result<(), Fault> {
        let lanes = i64::try_from(panel.lanes.len())?;
        let top = lanes * LANE;
        let Scale { from, to, .. } = panel.scale;
        let room = (to - from) / 14;
        let mut free = from;
        for (millis, name) in &panel.marks {
            let at = millis.div_euclid(1000);
            if at < from || at > to {
                continue;
            }
            chart.draw_series([PathElement::new([(at, 0), (at, top + LANE / 2)], INK)])?;
            if at >= free {
                let text = ("sans-serif", 11).into_font().color(&INK);
                chart.draw_series([Text::new(*name, (at, top + LANE), text)])?;
                free = at + room;
            }
        }
        Ok(())
    }
}

fn height(panel: &Panel) -> u32 {
    let marks = usize::from(!panel.marks.is_empty());
    let lanes = u32::try_from(panel.lanes.len() + marks).unwrap_or(0);
    PANEL_HEADING + lanes * LANE_HEIGHT + AXIS_HEIGHT
}

/// The height of a bar in parts of a lane; no count is so small that it does not show.
fn height_of(count: u64, most: u64) -> i64 {
    let full = u128::from(LANE.unsigned_abs()) * 9 / 10;
    let height = u128::from(count) * full / u128::from(most.max(1));
    i64::try_from(height.max(full / 12)).unwrap_or(LANE)
}

/// An axis with labels where they are wanted.
pub(super) struct Labelled {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) points: Vec<i64>,
}

impl Ranged for Labelled {
    type ValueType = i64;
    type FormatOption = DefaultFormatting;

    fn map(&self, value: &i64, limit: (i32, i32)) -> i32 {
        let length = i128::from(self.to - self.from).max(1);
        let pixels = i128::from(limit.1) - i128::from(limit.0);
        let place = i128::from(value - self.from) * pixels / length;
        limit.0 + i32::try_from(place).unwrap_or(0)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<i64> {
        self.points.clone()
    }

    fn range(&self) -> Range<i64> {
        self.from..self.to
    }
}

/// A label that fits beside its lane: its end is what tells most, its middle goes.
fn shortened(label: &str) -> String {
    let length = label.chars().count();
    if length <= LABEL_CHARS {
        return label.to_owned();
    }
    let head: String = label.chars().take(LABEL_CHARS / 2).collect();
    let tail: String = label.chars().skip(length - LABEL_CHARS / 2 + 1).collect();
    format!("{head}…{tail}")
}
