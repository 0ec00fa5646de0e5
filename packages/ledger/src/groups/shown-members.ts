import { type Steps, sortInSteps } from '@ledger-state/core'
import { type GroupMember, readResourceGroupInSteps } from '@ledger-state/move-module'
import type { StructTag } from '@ledger-state/type-tag'
import { compareStructTags } from './compare-struct-tags.js'

/** The members of a group in the order in which the reference lists them, in steps. @throws `invalid_bcs` */
export function* shownMembersInSteps(group: Uint8Array): Steps<readonly GroupMember<StructTag>[]> {
  return yield* sortInSteps(yield* readResourceGroupInSteps(group), (a, b) => compareStructTags(a.name, b.name))
}
