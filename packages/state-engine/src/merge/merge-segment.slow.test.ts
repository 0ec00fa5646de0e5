import './merge-segment.test.js'
