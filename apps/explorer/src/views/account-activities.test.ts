import { slicedLedger } from '@ledger-state/http/testing/sliced-ledger'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkView, openedPage } from '../../testing/check-view.ts'
import { ALICE, BEAN, coinStore, createPageEngine, LATEST, SHOP, SHOP_TYPE } from '../../testing/page-ledger.ts'
import { savedFile } from '../../testing/saved-file.ts'

const page = checkView({
  path: `/account/${ALICE}/activities`,
  shows: ['Changes of its holdings', 'Bean', /\+1\s000 BEAN/, /then 9\s000/, '+25 TEA', '2025-01-01 00:00:32 UTC'],
  absent: { '/account/0xdead/activities': 'Its holdings did not change in the window of this node.' },
})

it('ends at the state of the page', async () => {
  await page().goTo(`/account/${ALICE}/activities?at=5`)
  await page().shows(/then 6\s000/)
  expect(page().text).not.toMatch(/then [789]\s000/)
})

it('leads to the block of a change, and to the balance at it', async () => {
  await page().goTo(`/account/${ALICE}/activities`)
  const block = await page().find('.activity a', 'version 8')
  expect(block.getAttribute('href')).toBe('/version/8')
  // Earlier changes of the same asset may get its name first.
  await page().find('.activity-asset a[href="/balance/0xa11ce/0xcafe::bean::Bean?point=8"]', 'Bean')
})

it('are saved once a busy node answers', async () => {
  const saved = savedFile()
  await page().goTo(`/account/${ALICE}/activities`)
  await page().shows('Bean')
  page().answers('busy')
  await page().click('button', 'Save as CSV')
  await page().shows('The node is busy; asking again')
  page().answers('sound')
  expect(await saved).toContain(BEAN)
  await page().hides('The node is busy')
})

describe('a node that refuses the list', () => {
  beforeAll(() => page().leave())
  const sliced = openedPage(slicedLedger)

  it('offers no CSV of it', async () => {
    await sliced().goTo('/account/0xa1/activities')
    await sliced().shows('This node does not serve it')
    expect(sliced().texts('button')).not.toContain('Save as CSV')
  })
})

describe('activities as CSV', () => {
  const LONG = 1_105
  const amounts = Array.from({ length: LONG }, (_, at) => BigInt((at * 7_919) % 100_000) + 1n)
  beforeAll(() => page().leave())
  const long = openedPage(() => createPageEngine(amounts.map((amount) => [coinStore(ALICE, BEAN, amount)])))

  it.each([
    ['the newest state', ''],
    ['an earlier state', `?at=${LATEST + 1_050n}`],
  ])('equal the list at %s', async (_, at) => {
    const saved = savedFile()
    await long().goTo(`/account/${ALICE}/activities${at}`)
    await long().click('button', 'Save as CSV')
    const [header, ...lines] = (await saved).trimEnd().split('\r\n')
    const columns = header!.split(',')
    const rows = lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [columns[index]!, cell])))

    // The list that the page shows, all of its pages.
    const listed: Record<string, unknown>[] = []
    const to = at.replace('?at', '&to')
    for (let start: string | null = ''; start !== null; ) {
      const response: Response = await fetch(`/v1/accounts/${ALICE}/activities?limit=100${to}${start}`)
      listed.push(...((await response.json()) as Record<string, unknown>[]))
      const cursor = [...response.headers].find(([name]) => name.endsWith('-cursor'))?.[1]
      start = cursor === undefined ? null : `&start=${cursor}`
    }
    expect(rows.length).toBeGreaterThan(1_000)
    expect(columns.length).toBeGreaterThan(5)
    const texts = (row: Record<string, unknown>) => columns.map((name) => String(row[name] ?? ''))
    const withTime = listed.map((row) => ({ ...row, time: usecToTime(String(row.timestamp)) }))
    expect(rows.map(texts)).toEqual(withTime.map(texts))
    const shown = await long().find('.activity', 'version')
    expect(shown.textContent?.replaceAll(/(?<=\d)\s(?=\d{3})/g, '')).toContain(`version ${rows[0]!.version}`)
  })
})

describe('a pruned node', () => {
  const pruned = openedPage(async () => {
    const engine = await createPageEngine()
    await engine.prune(4n)
    return engine
  })

  it('says that earlier changes are unknown', async () => {
    await pruned().goTo(`/account/${ALICE}/activities`)
    await pruned().shows('version 8', 'Changes before the window are unknown.')
  })

  it('says of no value that its oldest known write created it', async () => {
    await pruned().goTo(`/resource/${SHOP}/${SHOP_TYPE}`)
    await pruned().shows('History', 'version 8', 'version 5', 'Writes before the window are unknown.')
    expect(pruned().text).not.toContain('Created')
  })
})

const usecToTime = (usec: string) => new Date(Number(usec) / 1_000).toISOString().replace('.000Z', 'Z')
