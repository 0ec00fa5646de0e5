import type { Chart } from '../bench-run.js'
import { byTitle, formatNumber, type Measure } from '../measure.js'
import type { BenchResult } from '../result-file.js'
import { toGrid } from '../terminal.js'
import { chartToSvg, DARK, LIGHT } from './chart.js'

/** One page that needs nothing else: `report.html`. */
export async function resultToHtml(
  result: BenchResult,
  charts: Readonly<Record<string, readonly Chart[]>>,
): Promise<string> {
  const sections: string[] = []
  for (const suite of result.suites) {
    const measures = result.measures.filter((measure) => measure.suite === suite)
    const plots: string[] = []
    for (const chart of charts[suite] ?? []) plots.push(await figureOf(chart, measures))
    sections.push(`<section><h2 id="${suite}">${suite}</h2>\n${plots.join('\n')}\n${tablesOf(measures)}</section>`)
  }
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ledger State, measured ${escapeHtml(result.startedAt.slice(0, 10))}</title>
<style>${STYLE}</style>
<main>
<h1>Ledger State, measured</h1>
${machineOf(result)}
<nav>${result.suites.map((suite) => `<a href="#${suite}">${suite}</a>`).join(' · ')}</nav>
${sections.join('\n')}
${result.notes.length > 0 ? `<section><h2>Left out, and noted</h2><ul>${result.notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul></section>` : ''}
<section><h2>Method</h2>${METHOD}</section>
</main>
</html>
`
}

const METHOD = `<p>Everything in one table was measured in one run, in interleaved rounds A B C A B C …, after a round that
warms up; figures are medians of the rounds, the spread is their least and most. Ratios are to the floor, the least that
the question can cost on this machine; above 1 is better than it. Rows are listed whether ours lead or not. CPU time counts
all threads of the process. Latencies of requests are taken from when each was due, so that a server that stalls cannot
hide it by holding the load back. All raw rounds are in result.json.</p>`

function machineOf({ machine, command, scale, startedAt }: BenchResult): string {
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`)
  const rows: readonly (readonly [string, string])[] = [
    ['command', command],
    ['scale', scale],
    ['when', startedAt],
    [
      'machine',
      `${machine.processor}, ${machine.cores} cores, ${formatNumber(machine.memoryBytes / 2 ** 30)} GiB, ${machine.system}`,
    ],
    ['load', `${machine.loadBefore.toFixed(2)} before, ${machine.loadAfter.toFixed(2)} after`],
    ['commit', machine.commit],
    ['versions', versions.join(', ')],
  ]
  return `<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>`
}

async function figureOf(chart: Chart, measures: readonly Measure[]): Promise<string> {
  const [light, dark] = [await chartToSvg(chart, measures, LIGHT), await chartToSvg(chart, measures, DARK)]
  if (!light || !dark) return ''
  const label = `role="img" aria-label="${escapeHtml(`${chart.title}. ${chart.caption}`)}"`
  const sized = (svg: string, theme: string) => svg.replace('<svg ', `<svg class="${theme}" ${label} `)
  return `<figure><h3>${escapeHtml(chart.title)}</h3>
${sized(light, 'light')}
${sized(dark, 'dark')}
<figcaption>${escapeHtml(chart.caption)}</figcaption></figure>`
}

function tablesOf(measures: readonly Measure[]): string {
  return [...byTitle(measures)]
    .map(([title, rows]) => {
      const roles = new Map(rows.map(({ subject, role }) => [subject, role]))
      const grid = toGrid(rows)
      const head = grid.header.map((cell) => `<th>${escapeHtml(cell)}</th>`).join('')
      const body = grid.rows
        .map((row) => {
          const cells = row.map((cell, at) =>
            at === 0 ? `<th>${escapeHtml(cell)}</th>` : `<td>${escapeHtml(cell)}</td>`,
          )
          return `<tr class="${roles.get(row[0]!)}">${cells.join('')}</tr>`
        })
        .join('')
      const name = title.slice(title.indexOf(': ') + 2)
      return `<h3>${escapeHtml(name)}</h3><div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
    })
    .join('\n')
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]!)
}

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --faint: #59636e; --line: #d8dee4; --page: #fff; --ours: #eaf1ff; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --faint: #9198a1; --line: #30363d; --page: #0d1117; --ours: #12233f; } }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; } h3 { margin: 1.5rem 0 .3rem; font-size: 1rem; }
figure { margin: 1rem 0; break-inside: avoid; } figcaption { color: var(--faint); } svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; break-inside: avoid; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; } tbody th, thead th:first-child { text-align: left; font-weight: 400; }
tr.ours { background: var(--ours); } tr.floor th { font-style: italic; } .dark { display: none; }
@media screen and (prefers-color-scheme: dark) { .light { display: none; } .dark { display: inline; } }
@media print { :root { --text: #000; --faint: #333; --line: #999; --page: #fff; --ours: #eee; } .dark { display: none; } .light { display: inline; } nav { display: none; } }
`
