import { addressToLongHex, addressToShortHex, parseAddress } from '@ledger-state/core'
import type { ViewReport } from '@ledger-state/ledger'
import { DEFAULT_BUDGET, type ViewBudget, type ViewUsage } from '@ledger-state/move-vm'
import { invalidParameter, operationDisabled, viewNotAllowed } from '../../errors.js'

/**
 * View functions that may run. Names are `0x1`, `0x1::coin` or `0x1::coin::balance`, and cover everything below them.
 */
export interface ViewFilter {
  readonly kind: 'allow' | 'block'
  readonly names: readonly string[]
}

/** Settings of a service for views. */
export interface ViewServiceOptions {
  /** Whether views may run at all; true by default. */
  readonly views?: boolean
  /** Views that may run; all by default. */
  readonly viewFilter?: ViewFilter
  /** Budget of one request, however many views it calls; by default the vm's. */
  readonly viewBudget?: Partial<ViewBudget>
  /** Called after each view, with its report. */
  readonly onView?: (view: ViewReport & { readonly seconds: number }) => void
}

/**
 * A name with a short address.
 * @throws `invalid_parameter`
 */
function canonicalName(text: string): string {
  const [address, ...names] = text.split('::')
  if (names.length > 2 || names.some((one) => one === '')) throw invalidParameter.viewNameInvalid(text)
  try {
    return [addressToShortHex(parseAddress(address!)), ...names].join('::')
  } catch {
    throw invalidParameter.viewNameInvalid(text)
  }
}

/** Decides which view functions may run. */
export class ViewRules {
  readonly #isServed: boolean
  readonly #filter: { readonly isAllowed: boolean; readonly names: ReadonlySet<string> } | undefined
  readonly budget: ViewBudget

  /** @throws `invalid_parameter` for a filter with an invalid name */
  constructor({ views = true, viewFilter, viewBudget = {} }: ViewServiceOptions) {
    this.#isServed = views
    this.#filter = viewFilter && {
      isAllowed: viewFilter.kind === 'allow',
      names: new Set(viewFilter.names.map(canonicalName)),
    }
    this.budget = { ...DEFAULT_BUDGET, ...viewBudget }
  }

  /**
   * Checks that views may run.
   * @throws `operation_disabled`
   */
  expectServed(): void {
    if (!this.#isServed) throw operationDisabled.viewsDisabled()
  }

  /**
   * Checks that a view may run.
   * @throws `view_not_allowed`
   */
  expectAllowed(address: Uint8Array, module: string, name: string): void {
    if (!this.#filter) return
    const short = addressToShortHex(address)
    const names = [short, `${short}::${module}`, `${short}::${module}::${name}`]
    const isNamed = names.some((one) => this.#filter!.names.has(one))
    if (isNamed !== this.#filter.isAllowed) {
      throw viewNotAllowed(`${addressToLongHex(address).slice(2)}::${module}::${name}`)
    }
  }
}

/** Budgets that runs use up. Modules are kept between runs, so their use is not added up. */
const SPENT = ['instructions', 'bytes', 'reads', 'readBytes'] as const satisfies readonly (keyof ViewBudget)[]

/** Rest of the budget of several runs of views, of one request or of one page of a history. */
export class ViewAllowance {
  readonly #left: { -readonly [name in keyof ViewBudget]: number }

  /** @param times number of budgets that the runs have together */
  constructor(budget: ViewBudget, times = 1) {
    this.#left = { ...budget }
    for (const name of SPENT) this.#left[name] *= times
  }

  get left(): ViewBudget {
    return { ...this.#left }
  }

  /** Whether any budget is used up. */
  get isSpent(): boolean {
    return SPENT.some((name) => this.#left[name] === 0)
  }

  spend(usage: ViewUsage): void {
    for (const name of SPENT) this.#left[name] = Math.max(0, this.#left[name] - usage[name])
  }
}
