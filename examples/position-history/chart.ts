/** A point of a curve: a time in microseconds, and the worth of the position since then. */
export interface Point {
  readonly timestampUsec: bigint
  readonly worth: bigint
}

const WIDTH = 640
const HEIGHT = 240

/** Draws an SVG with a step for each point: the worth is constant between two changes. */
export function drawChart(points: readonly Point[]): string {
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"/>\n`
  const most = points.reduce((max, { worth }) => (worth > max ? worth : max), 1n)
  const span = last.timestampUsec - first.timestampUsec || 1n
  const x = (usec: bigint) => Number(((usec - first.timestampUsec) * BigInt(WIDTH)) / span)
  const y = (worth: bigint) => HEIGHT - Number((worth * BigInt(HEIGHT)) / most)
  const steps = points.map(({ timestampUsec, worth }, at) => `${at ? `H${x(timestampUsec)}V` : 'M0,'}${y(worth)}`)
  const line = `<path d="${steps.join('')}" fill="none" stroke="currentColor" stroke-width="2"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">${line}</svg>\n`
}
