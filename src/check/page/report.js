// Shows one tick of the map at a time. Without it the page shows the first and the last. The page is
// a document of its own, or stands in a shadow root of another.
function enliven(root) {
  const player = root.getElementById('player');
  if (!player) return;
  const frames = [...player.querySelectorAll('g[data-tick]')];
  const bars = [...player.querySelectorAll('.bars rect')];
  const [button, slider, told] = ['play', 'tick', 'told'].map((id) => root.getElementById(id));
  let timer = 0;

  const show = (n) => {
    frames.forEach((frame, at) => frame.toggleAttribute('hidden', at !== n));
    bars.forEach((bar, at) => bar.classList.toggle('now', at === n));
    slider.value = n;
    told.value = frames[n].dataset.told;
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = 'Play';
  };
  const play = () => {
    if (Number(slider.value) === frames.length - 1) show(0);
    button.textContent = 'Pause';
    timer = setInterval(() => {
      show(Number(slider.value) + 1);
      if (Number(slider.value) === frames.length - 1) stop();
    }, 160);
  };

  button.addEventListener('click', () => (timer ? stop() : play()));
  slider.addEventListener('input', () => {
    stop();
    show(Number(slider.value));
  });
  bars.forEach((bar, n) => bar.addEventListener('click', () => show(n)));
  root.querySelector('main').classList.add('scripted');
  player.removeAttribute('hidden');
  // A link can name a tick: page.html#tick-153
  show(Math.max(0, frames.findIndex((frame) => location.hash === '#tick-' + frame.dataset.tick)));
}
enliven(document);
