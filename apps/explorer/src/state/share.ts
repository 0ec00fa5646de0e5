/** A part of a whole in percent, with two decimals, exact for numbers of any size; undefined if the whole is nothing. */
export function shareOf(part: string, whole: string | undefined): number | undefined {
  const [of, all] = [toUnits(part), toUnits(whole)]
  if (of === undefined || all === undefined || all === 0n) return undefined
  return Number((of * 10_000n) / all) / 100
}

function toUnits(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d{1,80}$/.test(text) ? BigInt(text) : undefined
}

/** A share as a text. A share that is not nothing is not shown as nothing. */
export function formatShare(share: number, isNothing: boolean): string {
  if (share === 0 && !isNothing) return '< 0.01 %'
  return `${share.toFixed(2)} %`
}
