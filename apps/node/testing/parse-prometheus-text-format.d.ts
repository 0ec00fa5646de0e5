declare module 'parse-prometheus-text-format' {
  export interface MetricFamily {
    readonly name: string
    readonly help: string
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED'
    readonly metrics: readonly {
      readonly labels?: Readonly<Record<string, string>>
      readonly value?: string
      readonly count?: string
    }[]
  }
  /**
   * Parses metrics.
   * @throws if the text does not have the format
   */
  function parse(text: string): MetricFamily[]
  // biome-ignore lint/style/noDefaultExport: it is theirs
  export default parse
}
