import { expect, it } from 'vitest'
import { safeText } from './safe-text.js'

it('replaces the characters that a terminal obeys, and no others', () => {
  expect(safeText('\u001b[2Ja\u009b31mb\u202ec\rd\u0000e\u007f')).toBe(' [2Ja 31mb c d e ')
  const kept = 'é 漢 👩‍👩‍👧 “x”\n\tat y'
  expect(safeText(kept)).toBe(kept)
})
