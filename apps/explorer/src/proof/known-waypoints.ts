/** The waypoints that networks publish, by the id of the chain. */
export const KNOWN_WAYPOINTS: Readonly<Record<string, readonly string[]>> = {
  1: [
    '0:6072b68a942aace147e0655c5704beaa255c84a7829baa4e72a500f1516584c4',
    '1638030465:c2b8b05061483c8d89426020fc3e6282746bd68299908113c265823860a5476e',
  ],
  2: [
    '0:4b56f15c1dcef7f9f3eb4b4798c0cba0f1caacc0d35f1c80ad9b7a21f1f8b454',
    '1836949986:91371e30a26bfd6dfce9439907370fcdd272eb2c25262b22809576c8c7d437a5',
  ],
  243: ['0:60d173fa4089ba2e45edbed9e82e5a5f9425d2f5cc9352b50e9c5e0d14c658e8'],
}
