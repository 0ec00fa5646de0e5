// The whole page, with only the keyboard.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  APT,
  EMPTY_VIEWS,
  EXPLORER_VIEWS,
  ExplorerBed,
  mainText,
  NARROW_LIGHT,
  type Page,
  shows,
  WIDE_LIGHT,
} from '../../testing/explorer-bed.ts'

let bed: ExplorerBed

beforeAll(async () => {
  bed = await ExplorerBed.start()
})
afterAll(() => bed.close())
afterEach(async () => {
  expect(await bed.closePages()).toEqual([])
})

/** Script that numbers each visible control, and returns how many there are. */
const NUMBER_CONTROLS = `(() => {
  const all = document.querySelectorAll('a[href], button:not(:disabled), input, select, textarea, summary, [tabindex="0"]')
  const seen = [...all].filter((one) => one.checkVisibility())
  for (const [at, one] of seen.entries()) one.dataset.control = at
  return seen.length
})()`

/**
 * Script that returns the focused control, whether it is visible, and whether it came into a long list while the list's
 * end came near.
 */
const FOCUSED = `(() => {
  const { dataset, tagName, textContent } = document.activeElement
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  const isSeen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1
  const isLater = dataset.control === undefined && document.activeElement.closest('.long-list') !== null
  return { control: dataset.control, isLater, isSeen, name: tagName + ' ' + textContent.slice(0, 40) }
})()`

interface Focused {
  readonly control?: string
  readonly isLater: boolean
  readonly isSeen: boolean
  readonly name: string
}

describe('the Tab key', () => {
  for (const { name, path, text } of [...EXPLORER_VIEWS, ...EMPTY_VIEWS]) {
    it(`reaches each control of ${name}, in order, and shows where it is`, async () => {
      const page = await bed.open(path, name === 'balance' ? NARROW_LIGHT : WIDE_LIGHT)
      await shows(page, text)
      await bed.settles(page)
      await page.evaluate("document.querySelector('.for-programs')?.setAttribute('open', '')")
      const count = Number(await page.evaluate(NUMBER_CONTROLS))
      const reached: number[] = []
      for (let at = 0; at < count; at++) {
        await page.keyboard.press('Tab')
        const focused = (await page.evaluate(FOCUSED)) as Focused
        if (focused.isLater) break
        expect([focused.name, focused.control]).not.toEqual([focused.name, undefined])
        expect([focused.name, focused.isSeen]).toEqual([focused.name, true])
        reached.push(Number(focused.control))
      }
      // The end of a long list comes while the focus moves.
      const expected = ['resource', 'item', 'activities'].includes(name) ? reached.length : count
      expect(reached).toEqual(Array.from({ length: expected }, (_, at) => at))
      expect(reached.length).toBeGreaterThan(6)
    })
  }
})

async function focus(page: Page, role: 'button' | 'link', name: string | RegExp): Promise<void> {
  const control = page.getByRole(role, { name, exact: typeof name === 'string' }).first()
  // A disabled button takes no focus.
  await expect.poll(() => control.isEnabled()).toBe(true)
  await control.focus()
}

describe('the keyboard', () => {
  const parameter = (page: Page, name: string): string | null => new URL(page.url()).searchParams.get(name)

  it('works like the pointer for the parts of an account, and for folded ones', async () => {
    const page = await bed.open('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab')
    await shows(page, 'Bean')
    await focus(page, 'link', 'Resources')
    await page.keyboard.press('Enter')
    await expect
      .poll(() => new URL(page.url()).pathname)
      .toBe('/account/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/resources')
    await page.locator('summary', { hasText: '0x1::account::Account' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => mainText(page)).not.toContain('authentication_key')
    await page.keyboard.press(' ')
    await shows(page, 'authentication_key')
    await page.locator('.fold', { hasText: '2 fields' }).first().focus()
    await page.keyboard.press('Enter')
    await shows(page, 'creation_num')
  })

  it('works like the pointer for a curve, its part, its points and its table', async () => {
    const page = await bed.open(`/balance/0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab/${APT}`)
    await page.locator('.uplot canvas').waitFor()
    await focus(page, 'button', 'by version')
    await page.keyboard.press(' ')
    await expect.poll(() => parameter(page, 'by')).toBe('version')
    await focus(page, 'button', 'Earlier')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'point')).not.toBeNull()
    const last = Number(parameter(page, 'point'))
    await page.keyboard.press('Enter')
    await expect.poll(() => Number(parameter(page, 'point'))).toBeLessThan(last)
    await focus(page, 'button', 'Later')
    await page.keyboard.press('Enter')
    await expect.poll(() => Number(parameter(page, 'point'))).toBe(last)
    await focus(page, 'button', 'Closer')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'from')).not.toBeNull()
    await focus(page, 'button', 'Whole window')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'from')).toBeNull()
    await focus(page, 'button', 'Look at this version')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'at')).toBe(String(last))
    const list = page.getByLabel('Changes of the balance')
    await list.focus()
    await page.keyboard.press('End')
    await expect.poll(() => page.evaluate("document.querySelector('.long-list-boxed').scrollTop")).toBeGreaterThan(100)
    await focus(page, 'button', 'Save as CSV')
    const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')])
    expect(download.suggestedFilename()).toBe('balance.csv')
  })

  it('works like the pointer for the form of a key', async () => {
    const page = await bed.open(
      '/table/0x7ab1e2?holder=0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15',
    )
    await page.locator('summary', { hasText: 'Find one item by its key' }).focus()
    await page.keyboard.press('Enter')
    await page.getByLabel('quay: u16').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.type('1')
    await page.keyboard.press('Tab')
    await page.keyboard.type('6')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'key')).toBe('{"quay":1,"place":6}')
  })

  it('works like the pointer for the time machine, lines to copy, and a filter', async () => {
    const page = await bed.open('/account/0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15/changes')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByLabel('Version, time or block to go to').focus()
    await page.keyboard.type('block 200')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'at')).toBe('1600')
    await page.locator('summary', { hasText: 'For programs' }).focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await shows(page, 'Copied')
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toContain('/v1/accounts/0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15/changes?from=')
    await focus(page, 'button', 'Latest')
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter(page, 'at')).toBeNull()
  })

  it('works like the pointer for the link to the content, and a form of the API', async () => {
    const page = await bed.open('/api/get_account')
    await shows(page, 'sequence number')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('content')
    await page.locator('details[open] form').getByLabel('address').focus()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('0xb0bafa730e2c2ecb19acccdb15f1bae3ce51689c84109792440a72348bb2dffb')
    await page.keyboard.press('Enter')
    await shows(page, '200 OK')
    await shows(page, '/v1/accounts/0xb0bafa730e2c2ecb19acccdb15f1bae3ce51689c84109792440a72348bb2dffb')
  })
})
