"""Rules about the reduced vocabulary: the map, its mask, the head, and the two vocabularies."""
