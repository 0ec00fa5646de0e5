import './two-writers.test.js'
