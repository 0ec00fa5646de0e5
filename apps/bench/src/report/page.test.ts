import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Measure } from './measure.ts'
import { pageToHtml } from './page.ts'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
)
if (!CHROMIUM) console.warn('the test of the page in a browser is skipped: there is no chromium')

const SUBJECTS = ['ours', 'a floor with a rather long name', 'peer <1>']
const MEASURES = SUBJECTS.flatMap((subject, at) =>
  [1_000, 10_000].map(
    (keys): Measure => ({
      suite: 'lookup',
      title: `${keys} keys`,
      subject,
      role: at === 0 ? 'ours' : at === 1 ? 'floor' : 'peer',
      metric: 'time',
      unit: 'ns',
      better: 'lower',
      rounds: [keys + at, keys + 2 * at],
      at: { keys },
    }),
  ),
)
const CHARTS = [
  { title: 'Lines', metric: 'time', x: 'keys', logarithmic: true, caption: 'By keys.' },
  { title: 'Bars', metric: 'time', x: 'subject', where: { keys: 1_000 }, caption: 'By "subject".' },
  { title: 'No points', metric: 'absent', x: 'keys', caption: 'Is left out.' },
]

let folder: string
let html: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'report-'))
  html = await pageToHtml({
    title: 'A title',
    heading: 'A heading',
    facts: [['command', 'bench <all>']],
    sections: [{ name: 'lookup', measures: MEASURES, charts: CHARTS }],
    notes: ['left out: a & b'],
    method: 'As it was done.',
  })
  writeFileSync(join(folder, 'report.html'), html)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('pageToHtml', () => {
  it('has facts, tables, notes, and each plot for light and dark', () => {
    for (const text of [
      'bench &lt;all&gt;',
      'peer &lt;1&gt;',
      '10000 keys',
      'left out: a &amp; b',
      'As it was done.',
    ]) {
      expect(html).toContain(text)
    }
    expect(html.match(/<svg class="light"/g)!.length).toBe(2)
    expect(html.match(/<svg class="dark"/g)!.length).toBe(2)
  })

  it('needs no other file', () => {
    expect(html).not.toMatch(/<script|(src|href)="(?!#)/)
  })

  it.skipIf(!CHROMIUM)('is legible in a browser, light, dark and on paper', async () => {
    const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
    try {
      for (const [colorScheme, media, shown, hidden] of [
        ['light', 'screen', 'light', 'dark'],
        ['dark', 'screen', 'dark', 'light'],
        ['dark', 'print', 'light', 'dark'],
      ] as const) {
        const page = await browser.newPage({ colorScheme, offline: true, viewport: { width: 900, height: 900 } })
        const complaints: string[] = []
        page.on('pageerror', (error) => complaints.push(String(error)))
        page.on('console', (message) => complaints.push(message.text()))
        await page.emulateMedia({ media, colorScheme })
        await page.goto(pathToFileURL(join(folder, 'report.html')).href)
        expect(await page.locator(`svg.${shown}`).first().isVisible()).toBe(true)
        expect(await page.locator(`svg.${hidden}`).first().isVisible()).toBe(false)
        const plots = await page
          .locator(`svg.${shown}`)
          .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().width))
        for (const width of plots) expect(width).toBeGreaterThan(200)
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        expect(await page.evaluate(overflow)).toBeLessThanOrEqual(0)
        expect(complaints).toEqual([])
        await page.close()
      }
    } finally {
      await browser.close()
    }
  })
})
