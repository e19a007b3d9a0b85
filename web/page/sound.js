// Plays what the program hears. It must never play before someone has touched the page, which
// browsers forbid, nor while nobody sees it. What is heard, and whether at all, the program says.

const RATE_HZ = 44_100;
// So many at once, as natively.
const VOICES_MAX = 24;

let audio;
let out;
let voices = 0;

// Gets ready, or goes on: to be called where something is clicked or pressed.
export function listen() {
  const isTouched = navigator.userActivation?.hasBeenActive ?? true;
  if (!isTouched || typeof AudioContext !== "function") return;
  if (!audio) {
    audio = new AudioContext();
    // Many at once are not louder than a few.
    out = new DynamicsCompressorNode(audio, { threshold: -12, ratio: 8, attack: 0.002, release: 0.15 });
    out.connect(audio.destination);
  }
  if (audio.state !== "running" && !document.hidden) audio.resume().catch(() => {});
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) audio?.suspend().catch(() => {});
  else listen();
});

// Plays what `next` gives until it has no more: from where it comes, then samples.
export function play(next) {
  for (let sound; (sound = next()); ) {
    if (audio?.state !== "running" || voices >= VOICES_MAX) continue;
    const [source, pan] = [new AudioBufferSourceNode(audio), new StereoPannerNode(audio, { pan: sound[0] })];
    source.buffer = new AudioBuffer({ length: Math.max(1, sound.length - 1), sampleRate: RATE_HZ });
    source.buffer.copyToChannel(sound.subarray(1), 0);
    source.connect(pan).connect(out);
    voices += 1;
    source.onended = () => {
      voices -= 1;
      pan.disconnect();
    };
    source.start();
  }
}
