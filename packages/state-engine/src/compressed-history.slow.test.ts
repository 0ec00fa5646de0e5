import './compressed-history.test.js'
