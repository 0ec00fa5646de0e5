import { expect, it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'

const page = checkView({
  path: '/api',
  shows: ['/v1/accounts/{address}', '/v1/view'],
})

it('opens the operation of the address, and sends it', async () => {
  await page().goTo('/api/get_ledger_info')
  const details = await page().find('details[open]')
  details.querySelector('button[type=submit]')!.closest('form')!.requestSubmit()
  await page().shows('200 OK', '"ledger_version":"8"')
})

it('shows a stream as it comes, as text for curl', async () => {
  await page().goTo('/api/get_stream')
  const details = await page().find('details[open]')
  expect(page().texts('details[open] code').join()).not.toContain('od -c')
  details.querySelector('form')!.requestSubmit()
  await page().shows('200 OK', 'retry: 1000')
  expect(page().text).not.toContain('does not answer')
})

it('says that the node does not answer', async () => {
  await page().goTo('/api/get_ledger_info')
  const details = await page().find('details[open]')
  page().answers('lost')
  details.querySelector('form')!.requestSubmit()
  await page().find('form [role=status]', 'The node does not answer')
  expect(page().texts('form .answer')).toEqual([''])
})
