/** Uses the colours of the `stint serve` page. */
export const STYLES = `
:root {
  color-scheme: light dark;
  --ground: #fafaf8; --surface: #ffffff; --line: #e3e3dd; --ink: #1b1c1e; --muted: #55585e;
  --none: #9a9da3; --file: #ad2317; --log: #855200; --plan: #5b54a6; --stint: #0b6b7d;
  --first: #35699f; --second: #6d7f24; --third: #b14a78; --fourth: #6f6f6f; --good: #e2f1f4;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #131417; --surface: #191b1f; --line: #2a2c31; --ink: #e4e5e2; --muted: #a6aab0;
    --none: #757a82; --file: #f08a7e; --log: #e0b061; --plan: #a9a3ee; --stint: #55c3d6;
    --first: #78aee4; --second: #b5c86e; --third: #e38fb5; --fourth: #a8a8a8; --good: #16313a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 8px; text-wrap: balance; }
h2 { font-size: 1.1875rem; margin: 40px 0 4px; }
p { margin: 4px 0 12px; max-width: 72ch; color: var(--muted); }
p.lead { color: var(--ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)); gap: 12px; margin: 24px 0 0; padding: 0; list-style: none; }
.tiles li { background: var(--good); border-radius: 6px; padding: 12px 16px; }
.tiles b { display: block; font-size: 1.5rem; line-height: 1.3; font-variant-numeric: tabular-nums; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr)); gap: 16px; margin-top: 16px; }
figure { margin: 0; padding: 16px; background: var(--surface); border: 1px solid var(--line); border-radius: 6px; min-width: 0; }
figure.wide { display: grid; align-items: start; gap: 8px 24px; grid-template-columns: minmax(0, 1fr); margin-top: 16px; }
figcaption { font-weight: 600; margin-bottom: 4px; }
figcaption small { display: block; font-weight: 400; color: var(--muted); font-size: 0.8125rem; }
.chart { display: block; width: 100%; max-width: 520px; height: auto; overflow: visible; }
.chart text { font: 12.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; fill: var(--ink); }
.chart .label, .chart .end { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart .value { font-variant-numeric: tabular-nums; }
.chart .over { paint-order: stroke; stroke: var(--surface); stroke-width: 4px; stroke-linejoin: round; }
.chart .axis { fill: var(--muted); font-size: 11px; }
.track, .grid { stroke: var(--line); stroke-width: 1; }
.limit { stroke: var(--file); stroke-width: 1.5; stroke-dasharray: 4 3; }
.none { fill: var(--none); } .session-json { fill: var(--file); } .enhanced-log { fill: var(--log); }
.plan-once { fill: var(--plan); } .stint { fill: var(--stint); }
.first { fill: var(--first); } .second { fill: var(--second); } .third { fill: var(--third); } .fourth { fill: var(--fourth); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 8px 0 0; padding: 0; font-size: 0.8125rem; color: var(--muted); }
.legend li { display: flex; align-items: center; gap: 6px; }
.scrolled { overflow-x: auto; margin-top: 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--surface); }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 10px 12px 6px; }
th, td { padding: 5px 12px; text-align: right; border-top: 1px solid var(--line); white-space: nowrap; }
th { font-weight: 500; } thead th, thead td { border-top: 0; color: var(--muted); }
tr > :first-child { text-align: left; white-space: normal; min-width: 9.5rem; }
th[scope='row'] { position: sticky; left: 0; background: var(--surface); }
tr > :last-child { font-weight: 600; }
.plain tr > :last-child { font-weight: 400; }
:focus-visible { outline: 2px solid var(--stint); outline-offset: 2px; }
@media (min-width: 900px) { figure.wide { grid-template-columns: minmax(0, 440px) minmax(0, 1fr); } figure.wide figcaption { grid-column: 1 / -1; } }
@media (max-width: 760px) { main { padding: 20px 14px 40px; } figure { padding: 12px; } h1 { font-size: 1.4rem; } }
@media print { figure, .scrolled { break-inside: avoid; } }
`.trim()
