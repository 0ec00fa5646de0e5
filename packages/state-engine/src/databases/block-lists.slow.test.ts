import './block-lists.test.js'
