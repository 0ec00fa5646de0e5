import './framings.test.js'
