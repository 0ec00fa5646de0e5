import { type Chart, chartToSvg } from './chart.ts'
import { toGrid } from './grid.ts'
import { byTitle, type Measure } from './measure.ts'
import { DARK, LIGHT, PRINT, type Theme } from './palette.ts'

export interface ReportPage {
  readonly title: string
  readonly heading: string
  /** Facts that the reader needs to judge the figures, such as the machine, by name. */
  readonly facts: readonly (readonly [name: string, text: string])[]
  readonly sections: readonly ReportSection[]
  readonly notes: readonly string[]
  /** How the figures were measured, in a paragraph. */
  readonly method: string
}

export interface ReportSection {
  /** Heading of the section, and target of the links to it. */
  readonly name: string
  readonly measures: readonly Measure[]
  readonly charts: readonly Chart[]
}

/** A page of HTML that needs no other file: plots for light and dark screens and for paper, and tables. */
export async function pageToHtml({ title, heading, facts, sections, notes, method }: ReportPage): Promise<string> {
  const rendered: string[] = []
  for (const { name, measures, charts } of sections) {
    const plots: string[] = []
    for (const chart of charts) plots.push(await figureOf(chart, measures))
    const id = escapeHtml(name)
    rendered.push(`<section><h2 id="${id}">${id}</h2>\n${plots.join('\n')}\n${tablesOf(measures)}</section>`)
  }
  const links = sections.map(({ name }) => `<a href="#${escapeHtml(name)}">${escapeHtml(name)}</a>`)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<main>
<h1>${escapeHtml(heading)}</h1>
<dl>${facts.map(([name, text]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(text)}</dd>`).join('')}</dl>
${links.length > 1 ? `<nav>${links.join(' · ')}</nav>` : ''}
${rendered.join('\n')}
${notes.length > 0 ? `<section><h2>Notes</h2><ul>${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul></section>` : ''}
<section><h2>Method</h2><p>${escapeHtml(method)}</p></section>
</main>
</html>
`
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

function variablesOf({ text, faint, grid, page, ours }: Theme): string {
  return `--text: ${text}; --faint: ${faint}; --line: ${grid}; --page: ${page}; --ours: ${ours};`
}

const STYLE = `
:root { color-scheme: light dark; ${variablesOf(LIGHT)} }
@media (prefers-color-scheme: dark) { :root { ${variablesOf(DARK)} } }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
h2 { border-bottom: 1px solid var(--line); margin-top: 2.5rem; } h3 { margin: 1.5rem 0 .3rem; font-size: 1rem; }
figure { margin: 1rem 0; break-inside: avoid; } figcaption { color: var(--faint); } svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; break-inside: avoid; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; } tbody th, thead th:first-child { text-align: left; font-weight: 400; }
tr.ours { background: var(--ours); } tr.floor th { font-style: italic; } .dark { display: none; }
@media screen and (prefers-color-scheme: dark) { .light { display: none; } .dark { display: inline; } }
@media print { :root { ${variablesOf(PRINT)} } .dark { display: none; } .light { display: inline; } nav { display: none; } }
`
