interface Head {
  readonly vary: string
  readonly isPost: boolean
  readonly headers: string[]
  /** Length of the list before its user appends to it. */
  readonly length: number
}

/**
 * Headers that all answers about a state have, made once for the state. A new list for each answer, which grows with
 * each further header, was 7 % of the garbage of a small request.
 */
export class CommonHeads {
  #chainState: readonly string[] | undefined
  #heads: Head[] = []

  /** Names and values, alternating, to which the caller may append others. The next call takes the list back. */
  take(chainState: readonly string[], vary: string, isPost: boolean): string[] {
    if (this.#chainState !== chainState) {
      this.#chainState = chainState
      this.#heads = []
    }
    for (const head of this.#heads) {
      if (head.vary !== vary || head.isPost !== isPost) continue
      head.headers.length = head.length
      return head.headers
    }
    const headers = [...chainState, 'vary', vary]
    // The latest version changes soon, and headers describe the state of the ledger even if the body does not change.
    if (!isPost) headers.push('cache-control', 'no-cache')
    this.#heads.push({ vary, isPost, headers, length: headers.length })
    return headers
  }
}
