import { it } from 'vitest'
import { checkView } from '../../testing/check-view.ts'
import { CROOK, HOSTILE_TABLE, SHOP, TABLE } from '../../testing/page-ledger.ts'

const itemPath = (handle: string, holder: string, key: string) =>
  `/table/${handle}?holder=${holder}&key_type=u64&value_type=0x1::string::String&key=${encodeURIComponent(key)}`
const PATH = itemPath(TABLE, SHOP, '"2"')

const page = checkView({
  path: PATH,
  shows: ['a saucer', 'version 5', 'a cup'],
  absent: {
    [itemPath(TABLE, SHOP, '"77"')]: 'It was never there.',
    [itemPath(TABLE, SHOP, '{')]: 'That cannot be read',
  },
  pruned: `${PATH}&at=1`,
  hostile: itemPath(HOSTILE_TABLE, CROOK, '"1"'),
})

it('shows the item of a past version', async () => {
  await page().goTo(`${PATH}&at=4`)
  await page().shows('a cup', 'All items')
})
