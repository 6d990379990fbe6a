//! The course of a simulated run: a panel for each measure, a line for each server, faults as shaded time.

use plotters::prelude::*;

use crate::report::escape::terminal;

use super::chart::{Area, DIM, Fault, Hue, INK, LINE, Labelled, PAPER, WIDTH, with_style};

const TITLE_HEIGHT: u32 = 64;
const PANEL_HEIGHT: u32 = 190;
const FOOT_HEIGHT: u32 = 34;

/// Points of a line at most: more would not be told apart.
const POINTS_MAX: usize = 550;

/// The colors of the lines, one server after the other.
const HUES: [Hue; 4] = [Hue::Low, Hue::High, Hue::Good, Hue::Medium];

/// A line.
#[derive(Debug, Clone)]
pub struct RunLine {
    /// The server.
    pub name: String,
    /// A value for each step.
    pub values: Vec<u64>,
}

/// A measure.
#[derive(Debug, Clone)]
pub struct RunPanel {
    /// What is measured.
    pub title: String,
    /// Whether steps that are drawn as one add up; of others the highest counts.
    pub adds_up: bool,
    /// The servers.
    pub lines: Vec<RunLine>,
}

/// The picture of a run.
#[derive(Debug, Clone)]
pub struct RunPicture {
    /// Its heading.
    pub title: String,
    /// The line below the heading.
    pub what: String,
    /// Seconds of a step.
    pub step_s: u64,
    /// The measures.
    pub panels: Vec<RunPanel>,
    /// Times in which something went wrong, in seconds.
    pub faults: Vec<(u64, u64)>,
    /// When someone did something, in seconds.
    pub deeds: Vec<u64>,
}

impl RunPicture {
    /// Draws it as SVG; none if there is nothing to draw.
    pub fn draw(&self) -> Option<String> {
        let steps = self.panels.iter().flat_map(|it| &it.lines);
        let steps = steps.map(|it| it.values.len()).max().unwrap_or(0);
        if steps < 2 {
            return None;
        }
        let panels = u32::try_from(self.panels.len()).ok()?;
        let whole = TITLE_HEIGHT + panels * PANEL_HEIGHT + FOOT_HEIGHT;
        let mut svg = String::new();
        self.draw_into(&mut svg, whole, steps).ok()?;
        with_style(svg)
    }

    fn draw_into(&self, svg: &mut String, whole: u32, steps: usize) -> Result<(), Fault> {
        let root = SVGBackend::with_string(svg, (WIDTH, whole)).into_drawing_area();
        root.fill(&PAPER)?;
        let title = ("sans-serif", 18).into_font().color(&INK);
        root.draw(&Text::new(terminal(&self.title), (16, 12), title))?;
        let dim = ("sans-serif", 12).into_font().color(&DIM);
        root.draw(&Text::new(terminal(&self.what), (16, 38), dim.clone()))?;
        let mut rest = root.split_vertically(TITLE_HEIGHT).1;
        let joined = steps.div_ceil(POINTS_MAX).max(1);
        for panel in &self.panels {
            let (area, below) = rest.split_vertically(PANEL_HEIGHT);
            self.panel(&area, panel, joined, steps)?;
            rest = below;
        }
        let foot = self.foot();
        rest.draw(&Text::new(foot, (16, 8), dim))?;
        root.present()?;
        Ok(())
    }

    fn foot(&self) -> String {
        let mut foot = "minutes of simulated time".to_owned();
        if !self.faults.is_empty() {
            foot.push_str("; shaded: a fault");
        }
        if !self.deeds.is_empty() {
            foot.push_str("; upright lines: what an operator did");
        }
        foot
    }

    fn panel(
        &self,
        area: &Area<'_>,
        panel: &RunPanel,
        joined: usize,
        steps: usize,
    ) -> Result<(), Fault> {
        let step = i64::try_from(self.step_s)? * i64::try_from(joined)?;
        let lines: Vec<Vec<i64>> = panel
            .lines
            .iter()
            .map(|it| points(panel, it, joined))
            .collect();
        let most = lines.iter().flatten().copied().max().unwrap_or(0).max(1);
        let end = i64::try_from(self.step_s)? * i64::try_from(steps)?;
        let heading = format!("{}, at most {most}", panel.title);
        let ink = ("sans-serif", 14).into_font().color(&INK);
        area.draw(&Text::new(terminal(&heading), (16, 4), ink))?;
        Self::legend(area, panel)?;
        let below = area.split_vertically(24).1;
        let tick = |span: i64| nice(span / 6);
        let ticks = |to: i64, distance: i64| (0..=to / distance).map(|it| it * distance).collect();
        // A tick is a whole number of minutes, or ten seconds in a run of a minute.
        let distance = if end < 360 {
            60
        } else {
            tick(end / 60).max(1) * 60
        };
        let xs: Vec<i64> = ticks(end, distance);
        let ys: Vec<i64> = ticks(most, nice(most / 3));
        let (x_labels, y_labels) = (xs.len(), ys.len());
        let mut chart = ChartBuilder::on(&below)
            .margin_right(28)
            .margin_left(16)
            .margin_top(6)
            .x_label_area_size(24)
            .y_label_area_size(60)
            .build_cartesian_2d(
                Labelled {
                    from: 0,
                    to: end,
                    points: xs,
                },
                Labelled {
                    from: 0,
                    to: most + most / 12 + 1,
                    points: ys,
                },
            )?;
        let shade = self.faults.iter().map(|(from, to)| {
            let at = |it: &u64| i64::try_from(*it).unwrap_or(end).min(end);
            Rectangle::new(
                [(at(from), 0), (at(to), most + most / 12 + 1)],
                LINE.filled(),
            )
        });
        chart.draw_series(shade)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(LINE)
            .x_labels(x_labels)
            .y_labels(y_labels)
            .x_label_formatter(&|at: &i64| (at / 60).to_string())
            .y_label_formatter(&|at: &i64| at.to_string())
            .label_style(("sans-serif", 12).into_font().color(&DIM))
            .draw()?;
        for at in &self.deeds {
            let at = i64::try_from(*at)?;
            chart.draw_series([PathElement::new([(at, 0), (at, most)], INK)])?;
        }
        for (line, hue) in lines.iter().zip(HUES.iter().cycle()) {
            let places = (0_i64..).map(|it| it * step);
            let path: Vec<(i64, i64)> = places.zip(line.iter().copied()).collect();
            chart.draw_series([PathElement::new(path, hue.rgb().stroke_width(2))])?;
        }
        Ok(())
    }

    /// The names of the servers at the right of the heading, each in its color.
    fn legend(area: &Area<'_>, panel: &RunPanel) -> Result<(), Fault> {
        let mut right = i32::try_from(WIDTH)? - 28;
        let named: Vec<_> = panel.lines.iter().zip(HUES.iter().cycle()).collect();
        for (line, hue) in named.into_iter().rev() {
            let name = terminal(&line.name);
            right -= 9 * i32::try_from(name.chars().count())? + 12;
            let style = ("sans-serif", 14).into_font().color(&hue.rgb());
            area.draw(&Text::new(name, (right, 4), style))?;
        }
        Ok(())
    }
}

fn points(panel: &RunPanel, line: &RunLine, joined: usize) -> Vec<i64> {
    let one = |values: &[u64]| {
        let value = if panel.adds_up {
            values.iter().sum()
        } else {
            values.iter().copied().max().unwrap_or(0)
        };
        i64::try_from(value).unwrap_or(i64::MAX / 16)
    };
    line.values.chunks(joined).map(one).collect()
}

/// The next of 1, 2, 5, 10, 20, 50 and so on.
fn nice(value: i64) -> i64 {
    let mut unit = 1;
    loop {
        for factor in [1, 2, 5] {
            if unit * factor >= value {
                return unit * factor;
            }
        }
        unit *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(values: Vec<u64>) -> RunPicture {
        RunPicture {
            title: "a <run>".to_owned(),
            what: "what & why".to_owned(),
            step_s: 10,
            panels: vec![RunPanel {
                title: "refused".to_owned(),
                adds_up: true,
                lines: vec![RunLine {
                    name: "ch1".to_owned(),
                    values,
                }],
            }],
            faults: vec![(10, 20)],
            deeds: vec![15],
        }
    }

    #[test]
    fn a_line_a_shade_and_the_names_are_drawn() {
        let svg = picture(vec![0, 7, 3]).draw().unwrap();
        for text in ["refused, at most 7", "ch1", "shaded: a fault", "<polyline"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("<run>"), "text is escaped");
        assert!(picture(vec![1]).draw().is_none(), "a moment has no course");
    }

    #[test]
    fn a_long_run_is_joined_and_nothing_is_lost() {
        let panel = &picture(vec![1; 5_000]).panels[0];
        let joined = points(panel, &panel.lines[0], 10);
        assert_eq!((joined.len(), joined.iter().sum::<i64>()), (500, 5_000));
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!([0, 1, 3, 7, 11, 180].map(nice), [1, 1, 5, 10, 20, 200]);
    }
}
