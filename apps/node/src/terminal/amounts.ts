/** Formats a whole number with commas between thousands. `toLocaleString` loads ICU, 40 ms of CPU at its first call. */
export function formatCount(count: number | bigint): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Formats a number of things, such as `1 version` and `2 versions`. `many` is the plural that is not `one` and an s. */
export function formatCounted(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${BigInt(count) === 1n ? one : many}`
}

export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

/** Text about how much is done, and how long the rest takes at the rate so far. */
export function formatShare(done: number, total: number, seconds: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 0
  return formatRest(share, share > 0.001 ? (seconds * (1 - share)) / share : undefined)
}

/** Text about how much is done, and how long the rest takes, if that is known. */
export function formatRest(share: number, secondsLeft: number | undefined): string {
  return `${(share * 100).toFixed(1)} %${secondsLeft === undefined ? '' : `, ${formatDuration(secondsLeft)} left`}`
}
