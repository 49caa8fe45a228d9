'use strict'
{
  const m = measured
  const style = () => getComputedStyle(document.body)
  // light-dark() is resolved only where a colour is used, so a probe element uses it.
  const probe = document.body.appendChild(document.createElement('i'))
  probe.hidden = true
  const colour = (name) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const short = (v) => v == null ? '' : v >= 1e6 ? +(v / 1e6).toPrecision(3) + ' M' : v >= 1e4 ? +(v / 1e3).toPrecision(3) + ' k' : +v.toPrecision(3) + ''
  const axis = (more) => ({
    stroke: colour('quiet'), font: '12px ' + style().fontFamily, grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line'), width: 1 }, ...more,
  })
  const values = (_, splits) => splits.map(short)
  // A second without known neighbours has no line, so it gets a point.
  const lonely = (plot, series) => {
    const v = plot.data[series]
    const found = v.flatMap((y, i) => (y != null && v[i - 1] == null && v[i + 1] == null ? [i] : []))
    return found.length ? found : null
  }
  const line = (label, name, more) => ({ label, stroke: colour(name), width: 1.5, points: { show: false, filter: lonely, size: 4 }, value: (_, v) => short(v), ...more })
  // Marks the beginning of the measured time, and each fault of a server.
  const mark = (plot, second, name, dash, text) => {
    const { left, top, width, height } = plot.bbox, at = Math.round(plot.valToPos(second, 'x', true))
    if (at < left || at > left + width) return
    const draw = plot.ctx, scale = devicePixelRatio
    draw.save()
    draw.strokeStyle = draw.fillStyle = colour(name)
    draw.lineWidth = scale
    draw.setLineDash(dash.map((n) => n * scale))
    draw.beginPath()
    draw.moveTo(at, top)
    draw.lineTo(at, top + height)
    draw.stroke()
    draw.font = `${11 * scale}px ${style().fontFamily}`
    draw.textAlign = at > left + width * 0.8 ? 'right' : 'left'
    draw.fillText(text, at + (draw.textAlign === 'right' ? -4 : 4) * scale, top - 3 * scale)
    draw.restore()
  }
  const marks = (plot) => {
    if (m.warmup > 0) mark(plot, m.warmup, 'quiet', [4, 4], 'measured')
    // A name is shown only if there is room for it.
    let free = m.warmup > 0 ? plot.valToPos(m.warmup, 'x') + 60 : -Infinity
    for (const fault of m.faults ?? []) {
      const at = plot.valToPos(fault.second, 'x')
      mark(plot, fault.second, 'bad', [], at >= free ? fault.what : '')
      if (at >= free) free = at + 14 + 7 * fault.what.length
    }
  }
  const overTime = (...series) => ({
    hooks: { draw: [marks] },
    scales: { x: { time: false }, y: { range: (_, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] } },
    axes: [axis({ values: (_, s) => s.map((v) => v + ' s') }), axis({ values, size: 58 })],
    series: [{ label: 'second', value: (_, v) => (v == null ? '' : v.toFixed(0)) }, ...series],
  })
  // The tail matters, so each step of the axis adds a nine.
  const nines = (p) => 1 / (1 - Math.min(p, 99.9999) / 100)
  const furthest = Math.max(1, ...m.percentiles.map((p) => nines(p.percentile)))
  const drawings = {
    latency: () => [overTime(line('p50', 'one'), line('p99', 'two'), line('max', 'three')), [m.seconds, m.p50, m.p99, m.max]],
    percentiles: () => [{
      scales: { x: { time: false, distr: 3 }, y: { range: (_, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] } },
      axes: [axis({ splits: () => [1, 10, 100, 1e3, 1e4, 1e5].filter((v) => v <= furthest * 1.01), values: (_, s) => s.map((v) => (v == null ? '' : +(100 - 100 / v).toPrecision(6) + ' %')) }), axis({ values, size: 58 })],
      series: [{ label: 'percentile', value: (_, v) => (v == null ? '' : +(100 - 100 / v).toPrecision(6) + ' %') }, line('latency', 'one')],
    }, [m.percentiles.map((p) => nines(p.percentile)), m.percentiles.map((p) => p.ms)]],
    rate: () => [overTime(line('done', 'one')), [m.seconds, m.rate]],
    memory: () => [overTime(line('resident', 'one'), line('heap', 'two')), [m.seconds, m.rss, m.heap]],
    cores: () => [overTime(line('server', 'one'), line('generator', 'three')), [m.seconds, m.cpu, m.generator]],
    nodes: () => [overTime(...(m.nodes ?? []).map((n, i) => line(n.name, ['one', 'two', 'three'][i % 3], { dash: i < 3 ? [] : [6, 3 * Math.floor(i / 3)] }))), [m.seconds, ...(m.nodes ?? []).map((n) => n.cpu)]],
    open: () => [overTime(line('open', 'one')), [m.seconds, m.open]],
  }
  let drawn = []
  const draw = () => {
    for (const plot of drawn) plot.destroy()
    drawn = []
    for (const figure of document.querySelectorAll('figure')) {
      const [options, data] = drawings[figure.dataset.plot]()
      // Values that were never measured have no plot.
      const something = data[0]?.length > 1 && data.slice(1).some((column) => column.some((v) => v))
      figure.hidden = !something
      if (!something) continue
      const box = figure.querySelector('div')
      drawn.push(new uPlot({ width: box.clientWidth, height: 220, cursor: { drag: { x: true, y: false } }, ...options }, data, box))
    }
  }
  draw()
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
  let width = innerWidth
  addEventListener('resize', () => {
    if (innerWidth !== width) width = innerWidth, draw()
  })
}
