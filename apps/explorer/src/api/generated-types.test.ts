// The types that openapi-typescript makes of the document of a node: the type check makes and checks them.
import { expectTypeOf, it } from 'vitest'
import type { operations } from '../../generated/open-api.ts'

type JsonOf<Name extends keyof operations> = operations[Name] extends {
  readonly responses: { readonly 200: { readonly content: { readonly 'application/json': infer Body } } }
}
  ? Body
  : never

it('a balance is a number where the API answers a number, and a decimal text in lists and histories', () => {
  // With a proof, it is the member of an object.
  expectTypeOf<Exclude<JsonOf<'get_account_balance'>, object>>().toEqualTypeOf<number>()
  expectTypeOf<Extract<JsonOf<'get_account_balance'>, object>['value']>().toEqualTypeOf<number>()
  expectTypeOf<JsonOf<'get_balances_batch'>[number]['value']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<JsonOf<'get_account_balance_history'>[number]['balance']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<JsonOf<'get_account_balances'>[number]['amount']>().toEqualTypeOf<string>()
})
